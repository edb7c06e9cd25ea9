#include "firn/source/files/taken_files.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"

namespace firn::source::files {

namespace {

using nlohmann::json;

constexpr int kCursorVersion = 1;
constexpr size_t kMaxSinceBase = 64;
constexpr size_t kEntryBytes = sizeof(int64_t) + sizeof(uint64_t) + sizeof(uint32_t);

uint32_t HashOfVersion(const FileId& file) {
  const std::string text = fmt::format("{}/{}", file.size_bytes, file.version);
  return static_cast<uint32_t>(XXH3_64bits(text.data(), text.size()));
}

Error Damaged(std::string_view what) {
  return {ErrorKind::kCorrupt, fmt::format("cursor of the files source: {}", what)};
}

template <typename T>
void Put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));  // little-endian, as all we run on
}

template <typename T>
T Take(std::string_view& in) {
  T value;
  std::memcpy(&value, in.data(), sizeof(value));
  in.remove_prefix(sizeof(value));
  return value;
}

json EncodeOpen(const OpenFile& open) {
  return {{"path", Base64Encode(open.file.path)},  // may hold any bytes
          {"size", open.file.size_bytes},         {"time", open.file.modified_ms},
          {"version", open.file.version},         {"record", open.position.record},
          {"byte", open.position.byte},           {"line", open.position.line}};
}

bool HasIntegers(const json& object, std::initializer_list<const char*> keys) {
  return std::ranges::all_of(keys, [&](const char* key) {
    const auto it = object.find(key);
    return it != object.end() && it->is_number_integer();
  });
}

Result<OpenFile> DecodeOpen(const json& object) {
  const auto is_text = [&](const char* key) { return object.contains(key) && object[key].is_string(); };
  if (!object.is_object() || !HasIntegers(object, {"size", "time", "record", "byte", "line"}) ||
      !is_text("path") || !is_text("version")) {
    return Damaged("the file in progress is not whole");
  }
  FIRN_ASSIGN(std::string path, Base64Decode(object["path"].get_ref<const std::string&>()));
  return OpenFile{{std::move(path), object["size"], object["time"], object["version"]},
                  {object["record"], object["byte"], object["line"]}};
}

}  // namespace

uint64_t HashOfPath(std::string_view path) { return XXH3_64bits(path.data(), path.size()); }

FileKey KeyOf(const FileId& file) { return {file.modified_ms, HashOfPath(file.path)}; }

bool TakenFiles::IsBelow(uint64_t hash) const {
  return fallen_.contains(hash) || std::ranges::binary_search(below_, hash);
}

TakenFiles::Sight TakenFiles::Look(const FileId& file) const {
  const FileKey key = KeyOf(file);
  if (const auto known = by_path_.find(key.path_hash); known != by_path_.end())
    return keys_.at(known->second) == HashOfVersion(file) ? Sight::kTaken : Sight::kChanged;
  const bool below = key <= watermark_;
  if (!listed_ && below) return Sight::kTaken;  // until the listings are compared
  if (IsBelow(key.path_hash)) return below ? Sight::kTaken : Sight::kChanged;
  return below ? Sight::kLate : Sight::kNew;
}

TakenFiles::Sight TakenFiles::See(const FileId& file) {
  const Sight sight = Look(file);
  const FileKey key = KeyOf(file);
  if (sight == Sight::kTaken && key <= watermark_) listed_below_.push_back(key.path_hash);
  return sight;
}

int64_t TakenFiles::EndListing() {
  int64_t unnamed = 0;
  unnamed_late_.reset();
  if (!std::exchange(listed_, true)) {
    Digest listed;
    for (const uint64_t hash : listed_below_) listed.Add(hash);
    const uint64_t difference = listed.hashes ^ digest_.hashes;
    const auto late = std::ranges::find(listed_below_, difference);
    if (listed.count == digest_.count + 1 && late != listed_below_.end()) {
      unnamed_late_ = difference;
      listed_below_.erase(late);
    } else if (listed.count >= digest_.count && listed != digest_) {
      unnamed = std::max<int64_t>(1, listed.count - digest_.count);
    }
  }
  below_ = std::exchange(listed_below_, {});
  below_.insert(below_.end(), fallen_.begin(), fallen_.end());
  fallen_.clear();
  std::ranges::sort(below_);
  const auto repeated = std::ranges::unique(below_);
  below_.erase(repeated.begin(), repeated.end());
  digest_ = {};
  for (const uint64_t hash : below_) digest_.Add(hash);
  return unnamed;
}

void TakenFiles::Insert(const FileKey& key, uint32_t version_hash) {
  const auto [known, inserted] = by_path_.try_emplace(key.path_hash, key);
  if (!inserted) keys_.erase(std::exchange(known->second, key));
  keys_[key] = version_hash;
}

bool TakenFiles::Take(const FileId& file, int64_t now_ms) {
  const Entry entry{KeyOf(file), HashOfVersion(file)};
  if (entry.key <= watermark_) {
    if (!IsBelow(entry.key.path_hash)) {
      fallen_.insert(entry.key.path_hash);
      digest_.Add(entry.key.path_hash);
    }
    return false;
  }
  Insert(entry.key, entry.version_hash);
  since_base_.push_back(entry);
  const int64_t newest_ms = std::min(keys_.rbegin()->first.modified_ms, now_ms);
  RaiseTo({newest_ms - limits_.lookback_ms, 0});
  if (keys_.size() <= limits_.max_entries) return false;
  auto middle = keys_.begin();
  std::advance(middle, static_cast<std::ptrdiff_t>(keys_.size() / 2));
  RaiseTo(middle->first);
  return true;
}

void TakenFiles::RaiseTo(const FileKey& watermark) {
  if (watermark <= watermark_) return;
  watermark_ = watermark;
  while (!keys_.empty() && keys_.begin()->first <= watermark_) {
    const uint64_t hash = keys_.begin()->first.path_hash;
    by_path_.erase(hash);
    keys_.erase(keys_.begin());
    if (!IsBelow(hash)) digest_.Add(hash);
    fallen_.insert(hash);
  }
}

std::string TakenFiles::EncodeEntries(const std::vector<Entry>& entries) {
  std::string bytes;
  bytes.reserve(entries.size() * kEntryBytes);
  for (const Entry& entry : entries) {
    Put(bytes, entry.key.modified_ms);
    Put(bytes, entry.key.path_hash);
    Put(bytes, entry.version_hash);
  }
  return Base64Encode(bytes);
}

Status TakenFiles::DecodeEntries(std::string_view text, TakenFiles& into) {
  auto decoded = Base64Decode(text);
  if (!decoded.ok() || decoded->size() % kEntryBytes != 0) return Damaged("the files taken are not whole");
  std::string_view bytes = *decoded;
  while (!bytes.empty()) {
    FileKey key;
    key.modified_ms = files::Take<int64_t>(bytes);
    key.path_hash = files::Take<uint64_t>(bytes);
    const auto version_hash = files::Take<uint32_t>(bytes);
    if (key > into.watermark_) into.Insert(key, version_hash);
  }
  return Ok();
}

record::SourceCursor TakenFiles::Encode(int64_t at, int32_t partitions, const std::optional<OpenFile>& open) {
  if (base_ == nullptr || since_base_.size() > kMaxSinceBase) {
    std::vector<Entry> all;
    for (const auto& [key, version_hash] : keys_) all.push_back({key, version_hash});
    base_ = std::make_shared<const std::string>(EncodeEntries(all));
    since_base_.clear();
  }
  json object = {{"v", kCursorVersion},
                 {"n", partitions},
                 {"w", {watermark_.modified_ms, watermark_.path_hash}},
                 {"d", {digest_.count, digest_.hashes}}};
  if (!since_base_.empty()) object["f"] = EncodeEntries(since_base_);
  if (open) object["o"] = EncodeOpen(*open);
  return {at, object.dump(), base_};
}

Result<TakenFiles::Decoded> TakenFiles::Decode(const record::SourceCursor& cursor, Limits limits) {
  const json object = json::parse(cursor.text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !HasIntegers(object, {"v", "n"})) return Damaged("not a JSON object of ours");
  if (object["v"] != kCursorVersion) {
    return Error(ErrorKind::kUnsupported, "the positions of the files source were written by a newer Firn")
        .WithRemedy("Run that version.");
  }
  const auto is_pair = [&](const char* key) {
    const auto it = object.find(key);
    return it != object.end() && it->is_array() && it->size() == 2 && (*it)[0].is_number_integer() &&
           (*it)[1].is_number_integer();
  };
  if (!is_pair("w") || !is_pair("d")) return Damaged("the watermark is missing");
  Decoded decoded{TakenFiles(limits), object["n"].get<int32_t>(), std::nullopt};
  TakenFiles& taken = decoded.taken;
  taken.watermark_ = {object["w"][0].get<int64_t>(), object["w"][1].get<uint64_t>()};
  taken.digest_ = {object["d"][0].get<int64_t>(), object["d"][1].get<uint64_t>()};
  FIRN_TRY(DecodeEntries(cursor.base_text(), taken));
  if (const auto since = object.find("f"); since != object.end()) {
    if (!since->is_string()) return Damaged("the files taken are not text");
    FIRN_TRY(DecodeEntries(since->get_ref<const std::string&>(), taken));
  }
  if (const auto open = object.find("o"); open != object.end()) {
    FIRN_ASSIGN(decoded.open, DecodeOpen(*open));
  }
  return decoded;
}

}  // namespace firn::source::files
