#include "firn/iceberg/model/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "firn/base/check.h"

namespace firn::iceberg {

namespace {

constexpr int kGzipWindowBits = 15 + 16;
constexpr int kMemoryLevel = 8;
constexpr size_t kStepBytes = 256 << 10;

Bytef* AsBytes(const char* data) { return reinterpret_cast<Bytef*>(const_cast<char*>(data)); }

class Inflater {
 public:
  Inflater() { FIRN_CHECK(inflateInit2(&stream_, kGzipWindowBits) == Z_OK, "zlib starts"); }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void SetInput(std::string_view bytes) {
    stream_.next_in = AsBytes(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
  }
  /// Appends at most one step to `out`; zlib's answer.
  int Step(std::string& out) {
    const size_t old = out.size();
    out.resize(old + kStepBytes);
    stream_.next_out = AsBytes(out.data() + old);
    stream_.avail_out = static_cast<uInt>(kStepBytes);
    const int answer = inflate(&stream_, Z_NO_FLUSH);
    out.resize(out.size() - stream_.avail_out);
    return answer;
  }
  bool has_input() const { return stream_.avail_in > 0; }
  void NextMember() { inflateReset(&stream_); }

 private:
  z_stream stream_{};
};

}  // namespace

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string GzipCompress(std::string_view bytes) {
  FIRN_CHECK(bytes.size() < std::numeric_limits<uInt>::max() / 2, "metadata far below 2 GiB");
  z_stream stream{};
  FIRN_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kMemoryLevel,
                          Z_DEFAULT_STRATEGY) == Z_OK,
             "zlib starts");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = AsBytes(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = AsBytes(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int answer = deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
  FIRN_CHECK(answer == Z_STREAM_END, "deflateBound bytes suffice");
  out.resize(stream.total_out);
  return out;
}

Result<std::string> GzipDecompress(std::string_view bytes, size_t max_bytes) {
  if (bytes.size() > std::numeric_limits<uInt>::max())
    return Error(ErrorKind::kCorrupt, "gzip data larger than 4 GiB");
  Inflater inflater;
  inflater.SetInput(bytes);
  std::string out;
  while (true) {
    const int answer = inflater.Step(out);
    if (out.size() > max_bytes)
      return Error(ErrorKind::kCorrupt, fmt::format("gzip data unpacks to more than {} bytes", max_bytes));
    if (answer == Z_STREAM_END) {
      if (!inflater.has_input()) return out;
      inflater.NextMember();
    } else if (answer != Z_OK) {
      return Error(ErrorKind::kCorrupt, "gzip data is damaged or cut off");
    }
  }
}

}  // namespace firn::iceberg
