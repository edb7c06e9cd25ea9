#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "firn/app/registry.h"
#include "firn/store/local/local_path.h"
#include "firn/store/local/local_store.h"
#include "firn/store/metered_store.h"
#include "firn/store/s3/location.h"
#include "firn/store/s3/open_store.h"

namespace firn::app {

namespace {

/// S3 stores by how they are reached: as many as there are different `s3:` maps in the configuration.
class S3Stores {
 public:
  S3Stores(obs::Metrics& metrics, std::stop_token abort) : metrics_(metrics), abort_(std::move(abort)) {}

  Result<std::shared_ptr<store::Store>> Get(const store::StoreAccess& access) {
    const std::lock_guard lock(mutex_);
    const auto found = stores_.find(access.properties);
    // Equal properties with functions of another catalog are another access.
    const bool shared = !access.renew && !access.signer_headers;
    if (shared && found != stores_.end()) return found->second;
    if (!deps_) deps_ = MakeDeps();
    FIRN_ASSIGN(auto opened, store::s3::OpenS3Store(access, *deps_));
    std::shared_ptr<store::Store> metered =
        std::make_shared<store::MeteredStore>(std::move(opened), "s3", metrics_);
    if (shared) stores_.emplace(access.properties, metered);
    return metered;
  }

 private:
  static constexpr size_t kUploadThreads = 4;

  /// Made when S3 is used for the first time: most runs on a local folder never do.
  store::s3::S3Deps MakeDeps() const {
    return {
        http::aws::SystemAwsDeps(store::s3::MakeS3HttpClient(), runtime::SystemClock(), runtime::SystemIds()),
        std::make_shared<runtime::Executor>("s3-upload", kUploadThreads), abort_};
  }

  obs::Metrics& metrics_;
  const std::stop_token abort_;
  std::mutex mutex_;
  std::optional<store::s3::S3Deps> deps_;
  std::map<std::map<std::string, std::string>, std::shared_ptr<store::Store>> stores_;
};

class SchemeResolver final : public store::StoreResolver {
 public:
  SchemeResolver(obs::Metrics& metrics, std::stop_token abort)
      : local_(
            std::make_shared<store::MeteredStore>(std::make_shared<store::LocalStore>(), "local", metrics)),
        s3_(metrics, std::move(abort)) {}

  Result<std::shared_ptr<store::Store>> Resolve(std::string_view location,
                                                const store::StoreAccess& access) override {
    if (store::IsLocalLocation(location)) return local_;
    if (store::s3::IsS3Location(location)) return s3_.Get(access);
    return Error(ErrorKind::kUnsupported, fmt::format("no store for {}", location))
        .WithRemedy("This version knows s3://bucket/path, file:///path and /path.");
  }

 private:
  const std::shared_ptr<store::Store> local_;
  S3Stores s3_;
};

}  // namespace

std::shared_ptr<store::StoreResolver> MakeStoreResolver(obs::Metrics& metrics, std::stop_token abort) {
  return std::make_shared<SchemeResolver>(metrics, std::move(abort));
}

}  // namespace firn::app
