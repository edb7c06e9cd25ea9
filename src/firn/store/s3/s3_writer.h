#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/runtime/executor.h"
#include "firn/store/s3/s3_client.h"
#include "firn/store/s3/s3_object.h"
#include "firn/store/store.h"

namespace firn::store::s3 {

/// User metadata of every object that is written here: an id of the one write that made it. By it a writer
/// finds out that a request whose answer was lost did its work.
inline constexpr std::string_view kMarkerHeader = "x-amz-meta-firn-write";

/// One object being written. What fits into one part goes with one PUT at Finish; more becomes a multipart
/// upload, of which one part is on its way while the next is filled: two parts of memory at most. Discard
/// aborts the upload. What must be new carries `If-None-Match: *` in the last request, so that of two writers
/// of one name exactly one succeeds; where a server does not implement that, it is asked before. What
/// replaces a version carries `If-Match` there, without a way around.
class S3Writer final : public ObjectWriter {
 public:
  /// `uploads` sends the parts.
  S3Writer(std::shared_ptr<S3Client> client, std::shared_ptr<runtime::Executor> uploads, S3Location location,
           WriteCondition condition);
  ~S3Writer() override;
  S3Writer(const S3Writer&) = delete;
  S3Writer& operator=(const S3Writer&) = delete;

  Status Write(std::string_view bytes) override;
  int64_t bytes_written() const override { return bytes_written_; }
  Status Finish() override;
  void Discard() noexcept override;

 private:
  Status Append(std::string_view bytes);
  Status SendPart();
  Status WaitForPart();
  Status Begin();
  Status Put();
  Status PutOnce(bool conditional);
  Status Complete();
  Status CompleteOnce(bool conditional);
  Status CheckAbsent();
  /// After a refusal that a try of our own may have caused: Ok when the object is the one that this writer
  /// made.
  Status Resolve(Error refusal, std::string_view whole_body);
  /// The same where a version was to be replaced: ours, a conflict, or nobody knows.
  Status ResolveVersion(Error refusal);
  bool IsOurs(const MarkedInfo& there, std::string_view whole_body) const;
  /// The request that makes the object; `conditional`: with `If-None-Match`.
  Status SendLast(Call call, bool conditional);
  http::HttpHeaders NewObjectHeaders() const;
  bool must_be_new() const { return condition_.must_be_new(); }

  const std::shared_ptr<S3Client> client_;
  const std::shared_ptr<runtime::Executor> uploads_;
  const S3Location location_;
  const WriteCondition condition_;
  const std::string marker_;
  std::string buffer_;
  int64_t bytes_written_ = 0;
  std::string upload_id_;           ///< empty: no upload has begun
  std::vector<std::string> etags_;  ///< of the parts that are stored
  std::optional<runtime::Future<Result<std::string>>> pending_;
  bool maybe_done_ = false;  ///< the last request may have been carried out by a try without an answer
  std::optional<Error> failure_;
  bool ended_ = false;
};

}  // namespace firn::store::s3
