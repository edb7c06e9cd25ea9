#include "firn/store/store.h"

#include <utility>

namespace firn::store {

WriteCondition WriteCondition::IfVersion(std::string version) {
  FIRN_CHECK(!version.empty(), "a version to be replaced has a name");
  WriteCondition condition(IfExists::kReplace);
  condition.version_ = std::move(version);
  return condition;
}

std::vector<NotDeleted> Store::DeleteMany(std::span<const std::string> locations) {
  std::vector<NotDeleted> left;
  for (const std::string& location : locations) {
    Status deleted = Delete(location);
    if (!deleted.ok()) left.push_back({location, std::move(deleted).error()});
  }
  return left;
}

Result<std::string> Store::ReadAll(const std::string& location) {
  FIRN_ASSIGN(auto object, Open(location));
  std::string bytes(static_cast<size_t>(object->size_bytes()), '\0');
  FIRN_ASSIGN(auto got, object->ReadAt(0, object->size_bytes(), bytes.data()));
  if (got != object->size_bytes()) {
    return Error(ErrorKind::kIo, location + ": became shorter while it was read");
  }
  return bytes;
}

Status Store::WriteAll(const std::string& location, std::string_view bytes, WriteCondition condition) {
  FIRN_ASSIGN(auto writer, Create(location, std::move(condition)));
  FIRN_TRY(writer->Write(bytes));
  return writer->Finish();
}

}  // namespace firn::store
