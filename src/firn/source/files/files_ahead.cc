#include "firn/source/files/files_ahead.h"

#include <algorithm>
#include <utility>

#include "firn/store/bytes_object.h"

namespace firn::source::files {

namespace {

// Of another size it is another file by now, for which no memory was set aside.
std::optional<FetchedFile> FetchWhole(store::Store& store, const std::string& location, int64_t size_bytes) {
  auto object = store.Open(location);
  if (!object.ok() || (*object)->size_bytes() != size_bytes) return std::nullopt;
  std::string bytes(static_cast<size_t>(size_bytes), '\0');
  const Result<int64_t> got = (*object)->ReadAt(0, size_bytes, bytes.data());
  if (!got.ok() || *got != size_bytes) return std::nullopt;
  Result<store::ObjectInfo> after = store.Head(location);
  if (!after.ok()) return std::nullopt;
  return FetchedFile{std::make_shared<store::BytesObject>(std::move(bytes)), *std::move(after)};
}

}  // namespace

void FilesAhead::Expect(std::span<const Next> next) {
  std::erase_if(entries_, [&](Entry& entry) {
    const bool expected = std::ranges::find(next, entry.file, &Next::file) != next.end();
    if (!expected) Drop(entry);
    return !expected;
  });
  int64_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.file.size_bytes;
  for (const Next& one : next) {
    const int64_t size_bytes = one.file.size_bytes;
    if (entries_.size() >= limits_.max_files) return;
    if (size_bytes > limits_.max_file_bytes ||
        std::ranges::find(entries_, one.file, &Entry::file) != entries_.end())
      continue;
    if (bytes + size_bytes > limits_.max_bytes) return;
    bytes += size_bytes;
    Fetch(one);
  }
}

void FilesAhead::Fetch(const Next& next) {
  auto dropped = std::make_shared<std::atomic<bool>>(false);
  held_bytes_ += next.file.size_bytes;
  auto fetch = [store = store_, next, dropped] {
    return *dropped ? std::nullopt : FetchWhole(*store, next.location, next.file.size_bytes);
  };
  entries_.push_back({next.file, dropped, executor_.Async(std::move(fetch))});
}

std::optional<FetchedFile> FilesAhead::Take(const FileId& file) {
  const auto found = std::ranges::find(entries_, file, &Entry::file);
  if (found == entries_.end()) return std::nullopt;
  std::optional<FetchedFile> fetched = found->fetched.Get();
  Drop(*found);
  entries_.erase(found);
  return fetched;
}

void FilesAhead::Clear() {
  for (Entry& entry : entries_) Drop(entry);
  entries_.clear();
}

void FilesAhead::Drop(Entry& entry) {
  *entry.dropped = true;
  held_bytes_ -= entry.file.size_bytes;
}

}  // namespace firn::source::files
