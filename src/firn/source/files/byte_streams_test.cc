#include "firn/source/files/byte_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "firn/store/memory/memory_store.h"

namespace firn::source::files {
namespace {

using ::testing::HasSubstr;

std::string Gzip(const std::string& text) {
  z_stream state{};
  EXPECT_EQ(deflateInit2(&state, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1000, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&state, Z_FINISH), Z_STREAM_END);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string Text(size_t bytes) {
  std::string text;
  for (size_t i = 0; text.size() < bytes; ++i) text += "line " + std::to_string(i * i) + "\n";
  return text;
}

class ByteStreams : public ::testing::Test {
 protected:
  Result<std::string> Read(const std::string& name, const std::string& bytes, int64_t skip = 0,
                           int64_t chunk_bytes = 1000) {
    const std::string location = "memory://x/" + name;
    EXPECT_TRUE(store_.WriteAll(location, bytes, store::IfExists::kReplace).ok());
    FIRN_ASSIGN(auto object, store_.Open(location));
    FIRN_ASSIGN(auto stream, OpenByteStream(location, std::move(object), {chunk_bytes, &executor_}));
    FIRN_TRY(stream->Skip(skip));
    std::string text;
    std::array<char, 700> piece;
    for (;;) {
      FIRN_ASSIGN(const size_t read, stream->Read(piece.data(), piece.size()));
      if (read == 0) return text;
      text.append(piece.data(), read);
    }
  }

  runtime::Executor executor_{"read", 2};
  store::MemoryStore store_;
};

TEST_F(ByteStreams, BytesAreGivenAsTheyAreAndSkippingReadsNothing) {
  const std::string text = Text(50'000);
  EXPECT_EQ(*Read("a", text), text);
  EXPECT_EQ(*Read("a", ""), "");
  for (const int64_t skip : {1, 999, 1000, 1001, 30'000})
    EXPECT_EQ(*Read("a", text, skip), text.substr(static_cast<size_t>(skip)));
  EXPECT_EQ(*Read("a", text, 60'000), "");
}

TEST_F(ByteStreams, GzipMembersAndZstdFramesFollowEachOther) {
  const std::string text = Text(200'000);
  const std::string half = text.substr(0, 100'001);
  const std::string rest = text.substr(100'001);
  EXPECT_EQ(*Read("a.gz", Gzip(half) + Gzip(rest)), text);
  EXPECT_EQ(*Read("a.gz", Gzip(text) + std::string(512, '\0')), text) << "padding behind the last member";
  EXPECT_EQ(*Read("a.zst", Zstd(half) + Zstd(rest)), text);
  EXPECT_EQ(*Read("no-such-name", Gzip(text)), text) << "the first bytes tell";
  EXPECT_EQ(*Read("a.gz", Gzip(text), 150'000), text.substr(150'000));
  EXPECT_EQ(*Read("a.gz", Gzip("")), "");
  EXPECT_EQ(*Read("a.gz", ""), "");
}

TEST_F(ByteStreams, CutOffAndDamagedDataIsToldWithItsPlace) {
  const std::string text = Text(200'000);
  for (const auto& [name, packed] : {std::pair("a.gz", Gzip(text)), std::pair("a.zst", Zstd(text))}) {
    auto cut = Read(name, packed.substr(0, packed.size() - 9));
    ASSERT_FALSE(cut.ok()) << name;
    EXPECT_EQ(cut.error().kind(), ErrorKind::kCorrupt);
    EXPECT_THAT(cut.error().message(), HasSubstr(std::string("memory://x/") + name));
    EXPECT_THAT(cut.error().message(), HasSubstr(std::to_string(packed.size() - 9)));
    std::string damaged = packed;
    damaged[packed.size() / 2] = static_cast<char>(~damaged[packed.size() / 2]);
    auto broken = Read(name, damaged);
    EXPECT_FALSE(broken.ok()) << name;
  }
}

TEST_F(ByteStreams, ANameThatPromisesCompressionMustKeepIt) {
  auto read = Read("a.json.gz", "{\"a\":1}\n");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace firn::source::files
