#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "firn/base/result.h"
#include "firn/http/sigv4/sigv4.h"
#include "firn/runtime/clock.h"

namespace firn::http::aws {

/// Keys that sign, and how long they do.
struct AwsCredentials {
  sigv4::Credentials keys;
  std::optional<int64_t> expires_at_ms;  ///< empty: they do not end
  std::string source;  ///< where they came from, for messages: "environment", "profile 'etl'" ...
};

/// Where signers take their keys from, at every request. Thread-safe.
class CredentialsProvider {
 public:
  virtual ~CredentialsProvider() = default;
  virtual Result<AwsCredentials> Get() = 0;
  /// A service said that these keys have ended or are not known: the next Get does not answer them from
  /// memory. False where there are no others to be had.
  virtual bool Reject(const std::string& access_key_id) = 0;
};

/// Keys that were written down.
std::shared_ptr<CredentialsProvider> StaticCredentials(sigv4::Credentials keys, std::string source);

using FetchCredentials = std::function<Result<AwsCredentials>()>;

/// Keeps what `fetch` gave until five minutes before it ends. One thread fetches at a time; while the old
/// keys still sign the others go on with those, and a failed renewal is only logged and tried again half a
/// minute later.
class RenewedCredentials final : public CredentialsProvider {
 public:
  /// `first`: keys to begin with, as a catalog vends them.
  RenewedCredentials(FetchCredentials fetch, runtime::Clock& clock,
                     std::optional<AwsCredentials> first = std::nullopt);

  Result<AwsCredentials> Get() override;
  bool Reject(const std::string& access_key_id) override;

 private:
  bool Fresh(int64_t now_ms) const;
  bool Usable(int64_t now_ms) const;
  Result<AwsCredentials> Fetch();

  const FetchCredentials fetch_;
  runtime::Clock& clock_;
  std::mutex fetching_;       ///< held while keys are fetched
  mutable std::mutex mutex_;  ///< guards what follows; never held while fetching
  std::optional<AwsCredentials> current_;
  int64_t next_try_ms_ = 0;  ///< after a failed renewal
};

}  // namespace firn::http::aws
