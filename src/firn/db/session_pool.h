#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "firn/base/result.h"
#include "firn/db/session.h"

namespace firn::db {

/// Sessions of one database, opened when needed and kept for the next user. A session whose file was removed
/// or replaced under it is thrown away, so that a database which was put back is found. Thread-safe.
class SessionPool {
 public:
  /// A session for the time of one task. Back in the pool at the end.
  class Lease {
   public:
    Lease(SessionPool& pool, std::unique_ptr<Session> session) : pool_(pool), session_(std::move(session)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (session_ != nullptr) pool_.Return(std::move(session_));
    }
    Session& operator*() { return *session_; }
    Session* operator->() { return session_.get(); }

   private:
    SessionPool& pool_;
    std::unique_ptr<Session> session_;
  };

  /// `options.create` holds for the first session only: a database that vanishes later is an error, not a
  /// new, empty one.
  explicit SessionPool(SessionOptions options) : options_(std::move(options)) {}

  Result<Lease> Get();

 private:
  void Return(std::unique_ptr<Session> session);

  SessionOptions options_;
  bool opened_ = false;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;
};

}  // namespace firn::db
