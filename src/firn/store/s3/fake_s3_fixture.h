#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/http/client/http_client.h"

namespace firn::store::s3 {

/// As much of S3 as the store uses, in memory and without a socket, path style. Faults are injected by a
/// hook. Thread-safe.
class FakeS3 final : public http::HttpClient {
 public:
  struct Object {
    std::string body;
    std::string etag;
    std::map<std::string, std::string> headers;  ///< x-amz-meta-* and the like
  };
  struct Seen {
    std::string method;
    std::string target;
    http::HttpHeaders headers;
    std::string header(const std::string& name) const;
  };
  /// Before a request takes effect: an answer in its place.
  using Hook = std::function<std::optional<Result<http::HttpResponse>>(const http::HttpRequest&)>;
  /// After it took effect: what the client gets to see in place of its answer.
  Hook before;
  Hook after;
  bool knows_if_none_match = true;
  bool knows_delete_objects = true;
  bool keeps_metadata = true;
  size_t page_keys = 2;

  Result<http::HttpResponse> Send(const http::HttpRequest& request) override;

  std::map<std::string, Object> objects;  ///< by path: "/bucket/key", decoded
  std::map<std::string, std::map<int, std::string>> uploads;
  std::map<std::string, std::map<std::string, std::string>> upload_headers;
  std::vector<Seen> seen;

  size_t Count(const std::string& method, const std::string& part = "") const;
  static http::HttpResponse Failure(int status, const std::string& code, const std::string& more = "");

 private:
  struct Request;
  http::HttpResponse Serve(const Request& request);
  http::HttpResponse Read(const Request& request);
  http::HttpResponse Put(const Request& request, std::string body,
                         std::map<std::string, std::string> headers);
  http::HttpResponse Post(const Request& request);
  http::HttpResponse List(const Request& request) const;
  http::HttpResponse DeleteObjects(const Request& request);

  std::mutex mutex_;
  int next_upload_ = 1;
};

}  // namespace firn::store::s3
