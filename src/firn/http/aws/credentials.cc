#include "firn/http/aws/credentials.h"

#include <utility>

#include "firn/obs/log.h"

namespace firn::http::aws {

namespace {

constexpr int64_t kRenewBeforeEndMs = 5 * 60'000;
constexpr int64_t kPauseAfterFailureMs = 30'000;

class Static final : public CredentialsProvider {
 public:
  Static(sigv4::Credentials keys, std::string source)
      : credentials_{std::move(keys), std::nullopt, std::move(source)} {}
  Result<AwsCredentials> Get() override { return credentials_; }
  bool Reject(const std::string& /*access_key_id*/) override { return false; }

 private:
  const AwsCredentials credentials_;
};

}  // namespace

std::shared_ptr<CredentialsProvider> StaticCredentials(sigv4::Credentials keys, std::string source) {
  return std::make_shared<Static>(std::move(keys), std::move(source));
}

RenewedCredentials::RenewedCredentials(FetchCredentials fetch, runtime::Clock& clock,
                                       std::optional<AwsCredentials> first)
    : fetch_(std::move(fetch)), clock_(clock), current_(std::move(first)) {}

bool RenewedCredentials::Usable(int64_t now_ms) const {
  return current_ && (!current_->expires_at_ms || *current_->expires_at_ms > now_ms);
}

bool RenewedCredentials::Fresh(int64_t now_ms) const {
  if (!Usable(now_ms)) return false;
  return !current_->expires_at_ms || *current_->expires_at_ms - now_ms > kRenewBeforeEndMs ||
         now_ms < next_try_ms_;
}

Result<AwsCredentials> RenewedCredentials::Get() {
  std::unique_lock fetching(fetching_, std::defer_lock);
  {
    const std::lock_guard lock(mutex_);
    const int64_t now_ms = clock_.NowMs();
    if (Fresh(now_ms)) return *current_;
    if (Usable(now_ms) && !fetching.try_lock()) return *current_;  // another thread is on its way
  }
  if (!fetching.owns_lock()) fetching.lock();
  return Fetch();
}

Result<AwsCredentials> RenewedCredentials::Fetch() {
  {
    const std::lock_guard lock(mutex_);
    if (Fresh(clock_.NowMs())) return *current_;  // fetched while this thread waited
  }
  Result<AwsCredentials> fetched = fetch_();
  const std::lock_guard lock(mutex_);
  if (fetched.ok()) {
    current_ = *fetched;
    next_try_ms_ = 0;
    return fetched;
  }
  const int64_t now_ms = clock_.NowMs();
  if (!Usable(now_ms)) return fetched;
  next_try_ms_ = now_ms + kPauseAfterFailureMs;
  obs::Log(obs::Level::kWarning, "credentials could not be renewed; the old ones still hold",
           {{"source", current_->source}, {"error", fetched.error()}});
  return *current_;
}

bool RenewedCredentials::Reject(const std::string& access_key_id) {
  const std::lock_guard lock(mutex_);
  if (current_ && current_->keys.access_key_id == access_key_id) current_.reset();
  return true;
}

}  // namespace firn::http::aws
