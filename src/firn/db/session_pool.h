#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "firn/base/result.h"
#include "firn/db/database.h"

namespace firn::db {

/// Sessions of one database, opened when needed and kept for the next user. A session that is of no use any
/// more (a lost connection, a file that was removed or replaced) is thrown away, so that a server which came
/// back, or a database which was put back, is found. At most `kMaxSessions` at a time: a further user waits
/// for one, so nobody may hold two. Thread-safe.
class SessionPool {
 public:
  static constexpr size_t kMaxSessions = 8;

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

  /// A SQLite database is made by the first session at most: one that vanishes later is an error, not a new,
  /// empty one.
  explicit SessionPool(DatabaseOptions options) : options_(std::move(options)) {}

  Result<Lease> Get();

 private:
  /// One that is usable, or null.
  std::unique_ptr<Session> TakeIdle();
  Result<std::unique_ptr<Session>> OpenNew();
  void Return(std::unique_ptr<Session> session);

  std::mutex mutex_;
  std::condition_variable returned_;
  DatabaseOptions options_;
  bool opened_ = false;
  size_t lent_ = 0;
  std::vector<std::unique_ptr<Session>> idle_;
};

}  // namespace firn::db
