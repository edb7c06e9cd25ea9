#include "firn/store/s3/s3_writer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/http/sigv4/digest.h"
#include "firn/obs/log.h"
#include "firn/runtime/fault_point.h"
#include "firn/store/s3/answers.h"
#include "firn/store/s3/part_sizes.h"

namespace firn::store::s3 {

namespace {

bool ConditionFailed(const Error& error) { return error.http_status() == 412; }
bool UploadIsGone(const Error& error) { return error.service_type() == "NoSuchUpload"; }
bool NobodyToReplace(const Error& error) { return error.service_type() == "NoSuchKey"; }
bool OthersAreWriting(const Error& error) { return error.http_status() == 409; }
bool NotImplemented(const Error& error) { return error.kind() == ErrorKind::kUnsupported; }

Result<std::string> UploadPart(S3Client& client, const S3Location& location, const std::string& upload_id,
                               size_t number, std::string_view bytes) {
  const Call call{.action = "write",
                  .method = "PUT",
                  .location = location,
                  .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload_id}},
                  .body = bytes};
  FIRN_ASSIGN(const http::HttpResponse answer, client.Send(call));
  std::string etag(answer.header("etag"));
  if (etag.empty())
    return Error(ErrorKind::kCorrupt, location.ToString() + ": S3 gave no ETag for a part of it");
  return etag;
}

}  // namespace

S3Writer::S3Writer(std::shared_ptr<S3Client> client, std::shared_ptr<runtime::Executor> uploads,
                   S3Location location, WriteCondition condition)
    : client_(std::move(client)),
      uploads_(std::move(uploads)),
      location_(std::move(location)),
      condition_(std::move(condition)),
      marker_(client_->ids().Uuid()) {}

S3Writer::~S3Writer() { Discard(); }

http::HttpHeaders S3Writer::NewObjectHeaders() const {
  http::HttpHeaders headers = client_->ObjectHeaders();
  headers.emplace_back(kMarkerHeader, marker_);
  return headers;
}

// --- writing

Status S3Writer::Write(std::string_view bytes) {
  if (failure_) return *failure_;
  Status written = Append(bytes);
  if (!written.ok()) failure_ = written.error();
  return written;
}

Status S3Writer::Append(std::string_view bytes) {
  bytes_written_ += static_cast<int64_t>(bytes.size());
  if (bytes_written_ > kMaxObjectBytes) {
    return Error(ErrorKind::kResourceExhausted,
                 location_.ToString() + ": is above 5 TiB, the most S3 can hold")
        .WithRemedy("Write smaller files (write.target-file-size-bytes).");
  }
  while (!bytes.empty()) {
    const int64_t part_bytes =
        PartBytes(static_cast<int32_t>(etags_.size() + (pending_ ? 2 : 1)), client_->config().part_bytes);
    const size_t room = static_cast<size_t>(part_bytes) - buffer_.size();
    buffer_.append(bytes.substr(0, room));
    bytes.remove_prefix(std::min(room, bytes.size()));
    // The last part is kept until more comes: an object of exactly one part needs no upload.
    if (!bytes.empty()) FIRN_TRY(SendPart());
  }
  return Ok();
}

Status S3Writer::SendPart() {
  FIRN_TRY(Begin());
  FIRN_TRY(WaitForPart());
  const size_t number = etags_.size() + 1;
  auto bytes = std::make_shared<const std::string>(std::exchange(buffer_, {}));
  buffer_.reserve(bytes->size());
  pending_ = uploads_->Async(
      [this, number, bytes] { return UploadPart(*client_, location_, upload_id_, number, *bytes); });
  return Ok();
}

Status S3Writer::WaitForPart() {
  if (!pending_) return Ok();
  Result<std::string> etag = std::exchange(pending_, std::nullopt)->Get();
  if (!etag.ok()) return std::move(etag).error();
  etags_.push_back(*std::move(etag));
  FIRN_FAULT_POINT(upload_part_after_sent);
  return Ok();
}

Status S3Writer::Begin() {
  if (!upload_id_.empty()) return Ok();
  const Call call{.action = "write",
                  .method = "POST",
                  .location = location_,
                  .query = {{"uploads", ""}},
                  .headers = NewObjectHeaders()};
  FIRN_ASSIGN(const http::HttpResponse answer, client_->Send(call));
  FIRN_ASSIGN_CTX(upload_id_, ParseUploadId(answer.body), location_.ToString());
  return Ok();
}

// --- the end

Status S3Writer::Finish() {
  if (failure_) return *failure_;
  FIRN_CHECK(!ended_, "an object is finished once");
  Status finished = upload_id_.empty() ? Put() : Complete();
  if (!finished.ok() && condition_.has_version()) finished = ResolveVersion(std::move(finished).error());
  if (finished.ok()) {
    ended_ = true;
    buffer_ = {};
  } else {
    failure_ = finished.error();
  }
  return finished;
}

Status S3Writer::Put() {
  const bool conditional = must_be_new() && client_->conditional_put();
  if (must_be_new() && !conditional) FIRN_TRY(CheckAbsent());
  Status put = PutOnce(conditional);
  if (put.ok() || !conditional) return put;
  if (ConditionFailed(put.error())) return Resolve(std::move(put).error(), buffer_);
  if (!NotImplemented(put.error())) return put;
  client_->NoConditionalPut();
  return Put();
}

Status S3Writer::PutOnce(bool conditional) {
  Call call{.action = "write",
            .method = "PUT",
            .location = location_,
            .headers = NewObjectHeaders(),
            .body = buffer_};
  return SendLast(std::move(call), conditional);
}

Status S3Writer::Complete() {
  if (!buffer_.empty()) FIRN_TRY(SendPart());
  FIRN_TRY(WaitForPart());
  const bool conditional = must_be_new() && client_->conditional_complete();
  if (must_be_new() && !conditional) FIRN_TRY(CheckAbsent());
  Status completed = CompleteOnce(conditional);
  if (completed.ok()) return completed;
  if (condition_.has_version()) return completed;
  // An upload that is gone was completed by a try whose answer did not arrive, or aborted by somebody.
  if (ConditionFailed(completed.error()) || UploadIsGone(completed.error()))
    return Resolve(std::move(completed).error(), {});
  if (!conditional || !NotImplemented(completed.error())) return completed;
  client_->NoConditionalComplete();
  return Complete();
}

Status S3Writer::CompleteOnce(bool conditional) {
  const std::string body = CompleteUploadBody(etags_);
  Call call{.action = "write",
            .method = "POST",
            .location = location_,
            .query = {{"uploadId", upload_id_}},
            .headers = {{"content-type", "application/xml"}},
            .body = body,
            .error_in_success = true};
  return SendLast(std::move(call), conditional);
}

Status S3Writer::SendLast(Call call, bool conditional) {
  if (conditional) call.headers.emplace_back("if-none-match", "*");
  if (condition_.has_version()) {
    call.headers.emplace_back("if-match", '"' + condition_.version() + '"');
    call.conflict_is_final = true;
    call.maybe_done = &maybe_done_;
  }
  auto answer = client_->Send(call);
  if (!answer.ok()) return std::move(answer).error();
  return Ok();
}

Status S3Writer::CheckAbsent() {
  const Result<MarkedInfo> there = HeadMarked(*client_, location_);
  if (!there.ok()) return there.error().kind() == ErrorKind::kNotFound ? Ok() : Status(there.error());
  return Error(ErrorKind::kAlreadyExists, location_.ToString() + " exists already");
}

bool S3Writer::IsOurs(const MarkedInfo& there, std::string_view whole_body) const {
  if (there.marker == marker_) return true;
  return there.marker.empty() && !whole_body.empty() &&
         std::cmp_equal(there.info.size_bytes, whole_body.size()) &&
         there.info.version == HexEncode(http::Md5(whole_body));
}

Status S3Writer::Resolve(Error refusal, std::string_view whole_body) {
  const Result<MarkedInfo> there = HeadMarked(*client_, location_);
  if (!there.ok()) return refusal;
  if (IsOurs(*there, whole_body)) return Ok();
  if (!ConditionFailed(refusal)) return refusal;
  return Error(ErrorKind::kAlreadyExists, location_.ToString() + " exists already")
      .WithHttpStatus(refusal.http_status());
}

Status S3Writer::ResolveVersion(Error refusal) {
  if (maybe_done_) {
    // While the server does not answer, looking tells nothing: a late request may yet be carried out.
    if (refusal.retry() == RetryHint::kNo) {
      const Result<MarkedInfo> there = HeadMarked(*client_, location_);
      if (there.ok() && IsOurs(*there, upload_id_.empty() ? buffer_ : "")) return Ok();
    }
    return Error(ErrorKind::kUnknownOutcome,
                 location_.ToString() + ": nobody knows whether it was replaced: " + refusal.ToString())
        .WithHttpStatus(refusal.http_status());
  }
  if (!ConditionFailed(refusal) && !NobodyToReplace(refusal) && !OthersAreWriting(refusal)) return refusal;
  return Error(ErrorKind::kConflict, location_.ToString() + ": is not the version that was to be replaced")
      .WithRetry(RetryHint::kNo)
      .WithHttpStatus(refusal.http_status());
}

void S3Writer::Discard() noexcept {
  if (std::exchange(ended_, true)) return;
  buffer_ = {};
  Ignore(WaitForPart());  // its part ends with the upload
  if (upload_id_.empty()) return;
  const Call call{.action = "abort the upload of",
                  .method = "DELETE",
                  .location = location_,
                  .query = {{"uploadId", upload_id_}}};
  auto aborted = client_->Send(call);
  if (aborted.ok() || aborted.error().kind() == ErrorKind::kNotFound) return;
  obs::Log(obs::Level::kWarning,
           "the parts of an unfinished upload stay until the bucket's rules remove them",
           {{"location", location_.ToString()}, {"error", aborted.error()}});
}

}  // namespace firn::store::s3
