// Runs one S3 store by commands on stdin (a JSON object a line) and answers each with a line on stdout, so
// that a test in Python decides when a server fails. The store's properties are the first argument, a JSON
// object.

#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "firn/base/bytes.h"
#include "firn/http/sigv4/digest.h"
#include "firn/store/s3/open_store.h"

namespace {

using firn::Error;
using firn::Result;
using firn::Status;
using json = nlohmann::json;
namespace store = firn::store;

json ErrorJson(const Error& error) {
  return {{"error", error.ToString()},
          {"kind", firn::ToString(error.kind())},
          {"code", error.service_type()},
          {"retry", error.retry() == firn::RetryHint::kYes}};
}

json InfoJson(const store::ObjectInfo& info) {
  return {{"location", info.location},
          {"size", info.size_bytes},
          {"modified_ms", info.modified_ms},
          {"version", info.version}};
}

json Answer(const Status& status) { return status.ok() ? json{{"ok", true}} : ErrorJson(status.error()); }

/// Bytes that differ from place to place, the same in every run.
std::string Pattern(int64_t offset, int64_t length) {
  std::string bytes(static_cast<size_t>(length), '\0');
  for (int64_t i = 0; i < length; ++i) bytes[static_cast<size_t>(i)] = static_cast<char>((offset + i) % 251);
  return bytes;
}

class Driver {
 public:
  explicit Driver(std::shared_ptr<store::Store> s3) : s3_(std::move(s3)) {}

  json Run(const json& command) {
    const std::string name = command.at("do");
    const std::string location = command.value("location", "");
    if (name == "create")
      return Create(location, command.value("replace", false), command.value("version", ""));
    if (name == "write") return Write(command.at("bytes"));
    if (name == "finish") return Answer(writer_->Finish());
    if (name == "discard") return Discard();
    if (name == "read")
      return Read(location, command.value("offset", int64_t{0}), command.value("length", int64_t{-1}));
    if (name == "head") return Head(location);
    if (name == "list") return List(location);
    if (name == "delete") return Delete(command.at("locations"));
    return {{"error", "no such command: " + name}};
  }

 private:
  json Create(const std::string& location, bool replace, const std::string& version) {
    store::WriteCondition condition = replace ? store::IfExists::kReplace : store::IfExists::kFail;
    if (!version.empty()) condition = store::WriteCondition::IfVersion(version);
    auto writer = s3_->Create(location, condition);
    if (!writer.ok()) return ErrorJson(writer.error());
    writer_ = *std::move(writer);
    return {{"ok", true}};
  }

  json Write(int64_t bytes) { return Answer(writer_->Write(Pattern(writer_->bytes_written(), bytes))); }

  json Discard() {
    writer_->Discard();
    writer_.reset();
    return {{"ok", true}};
  }

  json Read(const std::string& location, int64_t offset, int64_t length) {
    auto object = s3_->Open(location);
    if (!object.ok()) return ErrorJson(object.error());
    const int64_t size = (*object)->size_bytes();
    std::string bytes(static_cast<size_t>(length < 0 ? size - offset : length), '\0');
    auto read = (*object)->ReadAt(offset, static_cast<int64_t>(bytes.size()), bytes.data());
    if (!read.ok()) return ErrorJson(read.error());
    bytes.resize(static_cast<size_t>(*read));
    const bool as_written = bytes == Pattern(offset, *read);
    return {{"ok", true},
            {"size", size},
            {"read", *read},
            {"as_written", as_written},
            {"sha256", firn::http::Sha256Hex(bytes)}};
  }

  json Head(const std::string& location) {
    auto info = s3_->Head(location);
    return info.ok() ? InfoJson(*info) : ErrorJson(info.error());
  }

  json List(const std::string& prefix) {
    json objects = json::array();
    const Status listed = s3_->List(prefix, [&objects](const store::ObjectInfo& info) {
      objects.push_back(InfoJson(info));
      return true;
    });
    return listed.ok() ? json{{"ok", true}, {"objects", objects}} : ErrorJson(listed.error());
  }

  json Delete(const std::vector<std::string>& locations) {
    json left = json::array();
    for (const auto& [location, why] : s3_->DeleteMany(locations))
      left.push_back({{"location", location}, {"error", why.ToString()}});
    return {{"ok", true}, {"left", left}};
  }

  const std::shared_ptr<store::Store> s3_;
  std::unique_ptr<store::ObjectWriter> writer_;
};

}  // namespace

int main(int argc, char** argv) {
  store::StoreAccess access;
  access.properties = json::parse(argc > 1 ? argv[1] : "{}").get<std::map<std::string, std::string>>();
  const store::s3::S3Deps deps{
      firn::http::aws::SystemAwsDeps(store::s3::MakeS3HttpClient(), firn::runtime::SystemClock(),
                                     firn::runtime::SystemIds()),
      std::make_shared<firn::runtime::Executor>("s3-upload", 2)};
  auto opened = store::s3::OpenS3Store(access, deps);
  if (!opened.ok()) {
    std::cout << ErrorJson(opened.error()).dump() << std::endl;
    return 1;
  }
  std::cout << json{{"ok", true}}.dump() << std::endl;
  Driver driver(*std::move(opened));
  for (std::string line; std::getline(std::cin, line);)
    std::cout << driver.Run(json::parse(line)).dump(-1, ' ', true, json::error_handler_t::replace)
              << std::endl;
  return 0;
}
