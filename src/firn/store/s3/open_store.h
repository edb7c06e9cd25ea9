#pragma once

#include <memory>
#include <stop_token>

#include "firn/base/result.h"
#include "firn/http/aws/environment.h"
#include "firn/runtime/executor.h"
#include "firn/store/store.h"

namespace firn::store::s3 {

/// What all S3 stores of the process share: connections, threads that send parts, where keys are looked for.
struct S3Deps {
  http::aws::AwsDeps aws;  ///< its `http` is the one that S3 is spoken to with
  std::shared_ptr<runtime::Executor> uploads;
  std::stop_token stop = {};  ///< requested when the process is to leave at once: nothing is tried again
};

/// A client of the kind that S3 needs: bodies of any length, no bound on the time of an exchange in which
/// something moves. `AWS_CA_BUNDLE` is taken for the certificates.
std::shared_ptr<http::HttpClient> MakeS3HttpClient();

/// The store that `access` describes: its properties over those of the environment. No request is sent.
Result<std::shared_ptr<Store>> OpenS3Store(const StoreAccess& access, const S3Deps& deps);

}  // namespace firn::store::s3
