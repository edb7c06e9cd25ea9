#include "firn/source/files/byte_streams.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace firn::source::files {

namespace {

using Bytes = std::vector<char>;

constexpr int kZstdMaxWindowLog = 27;  ///< 128 MiB: what the decoder may take for itself

/// An object's bytes as they are, one chunk ahead.
class ObjectStream final : public record::ByteStream {
 public:
  ObjectStream(std::shared_ptr<store::RandomAccessObject> object, const ReadSetup& setup)
      : object_(std::move(object)), setup_(setup) {}
  ObjectStream(const ObjectStream&) = delete;
  ObjectStream& operator=(const ObjectStream&) = delete;
  ~ObjectStream() override {
    if (ahead_) ahead_->Wait();
  }

  Result<size_t> Read(char* out, size_t length) override {
    if (at_ == chunk_.size()) FIRN_TRY(NextChunk());
    const size_t taken = std::min(length, chunk_.size() - at_);
    if (taken > 0) std::memcpy(out, chunk_.data() + at_, taken);  // at the end there is no chunk
    at_ += taken;
    return taken;
  }

  Status Skip(int64_t bytes) override {
    const auto left = static_cast<int64_t>(chunk_.size() - at_);
    if (bytes <= left) {
      at_ += static_cast<size_t>(bytes);
      return Ok();
    }
    DropAhead();
    next_ += bytes - left;
    chunk_.clear();
    at_ = 0;
    return Ok();
  }

  /// Up to so many bytes, which stay unread.
  Result<std::string_view> Peek(size_t length) {
    if (at_ == chunk_.size()) FIRN_TRY(NextChunk());
    return std::string_view(chunk_.data() + at_, std::min(length, chunk_.size() - at_));
  }

 private:
  Status NextChunk() {
    if (!ahead_) Request();
    auto chunk = ahead_->Get();
    ahead_.reset();
    if (!chunk.ok()) return std::move(chunk).error();
    chunk_ = std::move(chunk).value();
    at_ = 0;
    next_ += static_cast<int64_t>(chunk_.size());
    if (!chunk_.empty() && next_ < object_->size_bytes()) Request();
    return Ok();
  }

  void Request() {
    const int64_t length = std::clamp<int64_t>(object_->size_bytes() - next_, 0, setup_.chunk_bytes);
    ahead_ = setup_.executor->Async([object = object_, offset = next_, length]() -> Result<Bytes> {
      Bytes bytes(static_cast<size_t>(length));
      if (length == 0) return bytes;
      FIRN_ASSIGN(const int64_t read, object->ReadAt(offset, length, bytes.data()));
      bytes.resize(static_cast<size_t>(read));
      return bytes;
    });
  }

  void DropAhead() {
    if (ahead_) ahead_->Wait();
    ahead_.reset();
  }

  const std::shared_ptr<store::RandomAccessObject> object_;
  const ReadSetup setup_;
  Bytes chunk_;
  size_t at_ = 0;
  int64_t next_ = 0;  ///< where the next chunk begins
  std::optional<runtime::Future<Result<Bytes>>> ahead_;
};

/// What unpacking streams share: a buffer of compressed bytes and where it stands.
class UnpackingStream : public record::ByteStream {
 public:
  UnpackingStream(std::string location, const char* kind, std::unique_ptr<ObjectStream> packed, size_t chunk)
      : location_(std::move(location)), kind_(kind), packed_(std::move(packed)), input_(chunk) {}

 protected:
  /// The buffer holds something, or the end is reached.
  Status Refill() {
    if (used_ < filled_) return Ok();
    consumed_ += static_cast<int64_t>(filled_);
    FIRN_ASSIGN(filled_, packed_->Read(input_.data(), input_.size()));
    used_ = 0;
    return Ok();
  }
  bool at_end() const { return used_ == filled_; }
  const char* input() const { return input_.data() + used_; }
  size_t available() const { return filled_ - used_; }
  void Use(size_t bytes) { used_ += bytes; }
  void DropRest() { used_ = filled_; }

  Error Damaged(std::string_view why) const {
    return Error(ErrorKind::kCorrupt, fmt::format("{}: {} data at byte {}: {}", location_, kind_,
                                                  consumed_ + static_cast<int64_t>(used_), why))
        .WithRemedy("Write the file anew, or take it away.");
  }
  static constexpr std::string_view kCutOff = "the file ends in the middle";

 private:
  const std::string location_;
  const char* const kind_;
  const std::unique_ptr<ObjectStream> packed_;
  Bytes input_;
  size_t filled_ = 0;
  size_t used_ = 0;
  int64_t consumed_ = 0;  ///< bytes before the buffer
};

class GzipStream final : public UnpackingStream {
 public:
  GzipStream(std::string location, std::unique_ptr<ObjectStream> packed, size_t chunk)
      : UnpackingStream(std::move(location), "gzip", std::move(packed), chunk) {}
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override {
    if (begun_) ::inflateEnd(&state_);
  }

  Result<size_t> Read(char* out, size_t length) override {
    if (!begun_) FIRN_TRY(Begin());
    state_.next_out = reinterpret_cast<Bytef*>(out);
    state_.avail_out = static_cast<uInt>(std::min<size_t>(length, INT32_MAX));
    const uInt room = state_.avail_out;
    while (state_.avail_out == room && !ended_) FIRN_TRY(Step());
    return room - state_.avail_out;
  }

 private:
  Status Begin() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (::inflateInit2(&state_, kGzipOnly) != Z_OK)
      return Error(ErrorKind::kResourceExhausted, "no memory to unpack gzip");
    begun_ = true;
    return Ok();
  }

  Status Step() {
    FIRN_TRY(Refill());
    if (at_end()) {
      if (in_member_) return Damaged(kCutOff);
      ended_ = true;
      return Ok();
    }
    if (!in_member_ && *input() == '\0') {  // padding behind the last member (tape blocks)
      Use(1);
      return Ok();
    }
    in_member_ = true;
    state_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input()));  // NOLINT: zlib's interface
    state_.avail_in = static_cast<uInt>(available());
    const int code = ::inflate(&state_, Z_NO_FLUSH);
    Use(available() - state_.avail_in);
    if (code == Z_STREAM_END) {
      in_member_ = false;
      ::inflateReset(&state_);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return Damaged(state_.msg != nullptr ? state_.msg : "it cannot be unpacked");
    }
    return Ok();
  }

  z_stream state_{};
  bool begun_ = false;
  bool in_member_ = true;
  bool ended_ = false;
};

class ZstdStream final : public UnpackingStream {
 public:
  ZstdStream(std::string location, std::unique_ptr<ObjectStream> packed, size_t chunk)
      : UnpackingStream(std::move(location), "zstd", std::move(packed), chunk),
        context_(::ZSTD_createDCtx()) {
    ::ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kZstdMaxWindowLog);
  }
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;
  ~ZstdStream() override { ::ZSTD_freeDCtx(context_); }

  Result<size_t> Read(char* out, size_t length) override {
    ZSTD_outBuffer unpacked{out, length, 0};
    while (unpacked.pos == 0) {
      FIRN_TRY(Refill());
      if (at_end() && !in_frame_) return size_t{0};
      ZSTD_inBuffer packed{input(), available(), 0};
      const bool no_more_input = at_end();
      const size_t code = ::ZSTD_decompressStream(context_, &unpacked, &packed);
      Use(packed.pos);
      if (::ZSTD_isError(code) != 0) return Damaged(::ZSTD_getErrorName(code));
      in_frame_ = code != 0;
      if (no_more_input && unpacked.pos == 0 && in_frame_) return Damaged(kCutOff);
    }
    return unpacked.pos;
  }

 private:
  ZSTD_DCtx* const context_;
  bool in_frame_ = true;
};

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }
bool IsZstd(std::string_view bytes) {
  // A frame, or one that says it is to be skipped.
  return bytes.starts_with("\x28\xb5\x2f\xfd") ||
         (bytes.size() >= 4 && (bytes[0] & '\xf0') == '\x50' && bytes.substr(1, 3) == "\x2a\x4d\x18");
}

}  // namespace

bool IsNamedCompressed(std::string_view location) {
  return location.ends_with(".gz") || location.ends_with(".gzip") || location.ends_with(".zst") ||
         location.ends_with(".zstd");
}

Result<std::unique_ptr<record::ByteStream>> OpenByteStream(const std::string& location,
                                                           std::shared_ptr<store::RandomAccessObject> object,
                                                           const ReadSetup& setup) {
  auto stream = std::make_unique<ObjectStream>(std::move(object), setup);
  constexpr size_t kMagicBytes = 4;
  const auto chunk = static_cast<size_t>(std::min<int64_t>(setup.chunk_bytes, 128 << 10));
  FIRN_ASSIGN(const std::string_view magic, stream->Peek(kMagicBytes));
  std::unique_ptr<record::ByteStream> unpacked;
  if (IsGzip(magic)) {
    unpacked = std::make_unique<GzipStream>(location, std::move(stream), chunk);
  } else if (IsZstd(magic)) {
    unpacked = std::make_unique<ZstdStream>(location, std::move(stream), chunk);
  } else if (IsNamedCompressed(location) && !magic.empty()) {
    return Error(ErrorKind::kCorrupt,
                 fmt::format("{}: byte 0: the name says that it is compressed, its first bytes do not",
                             location))
        .WithRemedy("Give it its right name, or write it anew.");
  } else {
    unpacked = std::move(stream);
  }
  return unpacked;
}

}  // namespace firn::source::files
