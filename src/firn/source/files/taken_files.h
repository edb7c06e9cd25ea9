#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "firn/base/result.h"
#include "firn/record/file_format.h"
#include "firn/record/position.h"

namespace firn::source::files {

/// One version of one file.
struct FileId {
  std::string path;  ///< below the source's base
  int64_t size_bytes = 0;
  int64_t modified_ms = 0;
  std::string version;  ///< as the store tells it
  bool operator==(const FileId&) const = default;
};

uint64_t HashOfPath(std::string_view path);

/// The order in which the files of one partition are taken: by time; files of the same time in no order that
/// means anything.
struct FileKey {
  int64_t modified_ms = std::numeric_limits<int64_t>::min();
  uint64_t path_hash = 0;
  auto operator<=>(const FileKey&) const = default;
};
FileKey KeyOf(const FileId& file);

/// A file of which some records are taken.
struct OpenFile {
  FileId file;
  record::FilePosition position;
};

/// What is remembered of the files that one partition took: bounded, and small enough to travel with every
/// commit.
///
/// Files are taken in the order of their keys. All keys at or below the *watermark* were taken, or decided
/// upon; of those above it, which are younger than `lookback` before the newest, each is remembered by the
/// hashes of its path and version. Where they are more than `max_entries`, the watermark rises early, to the
/// middle of them.
///
/// What lies at or below the watermark is known in memory only, from the listings: a path that one shows and
/// the ones before did not is late. Across restarts a count and an exclusive-or of the path hashes tell
/// whether files came while nobody looked; a single one can be told by name.
/// Not thread-safe.
class TakenFiles {
 public:
  struct Limits {
    int64_t lookback_ms = 0;
    size_t max_entries = 2'000;
  };
  enum class Sight : uint8_t {
    kTaken,
    kNew,
    kLate,     ///< not seen before, and below the watermark
    kChanged,  ///< taken before, in another version
  };

  explicit TakenFiles(Limits limits) : limits_(limits) {}

  /// What a listing shows. Between BeginListing and EndListing each file of the partition once.
  void BeginListing() { listed_below_.clear(); }
  Sight See(const FileId& file);
  /// The listing was complete. Returns how many files (at least) came below the watermark while nobody looked
  /// and cannot be named; the first listing tells. Those that can be named are late in the next listing.
  int64_t EndListing();
  /// Another listing is due at once: a late file was found, not yet its name.
  bool wants_listing() const { return unnamed_late_.has_value(); }

  Sight Look(const FileId& file) const;
  /// The file was taken to its end, or left out on purpose. `now_ms` keeps times that lie in the future from
  /// raising the watermark. True when the watermark rose early.
  bool Take(const FileId& file, int64_t now_ms);

  size_t size() const { return keys_.size(); }
  const FileKey& watermark() const { return watermark_; }

  /// The state with the file in progress, as a cursor at this position; cheap: what was taken since the last
  /// few cursors is in its text, the rest is shared.
  record::SourceCursor Encode(int64_t at, int32_t partitions, const std::optional<OpenFile>& open);

  struct Decoded;
  /// kCorrupt when the cursor is damaged, kUnsupported when a newer Firn wrote it.
  static Result<Decoded> Decode(const record::SourceCursor& cursor, Limits limits);

 private:
  struct Digest {
    int64_t count = 0;
    uint64_t hashes = 0;  ///< exclusive-or
    bool operator==(const Digest&) const = default;
    void Add(uint64_t hash) {
      ++count;
      hashes ^= hash;
    }
  };
  struct Entry {
    FileKey key;
    uint32_t version_hash = 0;
  };

  bool IsBelow(uint64_t hash) const;
  void Insert(const FileKey& key, uint32_t version_hash);
  void RaiseTo(const FileKey& watermark);
  static std::string EncodeEntries(const std::vector<Entry>& entries);
  static Status DecodeEntries(std::string_view text, TakenFiles& into);

  Limits limits_;
  FileKey watermark_;
  std::map<FileKey, uint32_t> keys_;               ///< above the watermark: version hash
  std::unordered_map<uint64_t, FileKey> by_path_;  ///< their keys by path hash
  Digest digest_;                                  ///< of the paths at or below the watermark
  bool listed_ = false;                            ///< a listing was complete
  std::vector<uint64_t> below_;          ///< sorted: paths at or below the watermark in the last listing
  std::unordered_set<uint64_t> fallen_;  ///< fell below it since
  std::vector<uint64_t> listed_below_;   ///< of the listing that runs
  std::optional<uint64_t> unnamed_late_;
  std::shared_ptr<const std::string> base_;  ///< entries that the last cursors share
  std::vector<Entry> since_base_;
};

struct TakenFiles::Decoded {
  TakenFiles taken;
  int32_t partitions = 0;
  std::optional<OpenFile> open;
};

}  // namespace firn::source::files
