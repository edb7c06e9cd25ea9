#include "firn/db/session_pool.h"

namespace firn::db {

Result<SessionPool::Lease> SessionPool::Get() {
  SessionOptions options;
  {
    std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      auto session = std::move(idle_.back());
      idle_.pop_back();
      if (session->CheckInPlace().ok()) return Lease(*this, std::move(session));
    }
    options = options_;
  }
  auto session = Session::Open(options);
  std::lock_guard lock(mutex_);
  if (session.ok()) {
    opened_ = true;
    options_.create = false;
    return Lease(*this, *std::move(session));
  }
  if (!opened_ || session.error().kind() != ErrorKind::kNotFound) return std::move(session).error();
  return Error(ErrorKind::kUnavailable, session.error().message() + " any more")
      .WithRemedy(session.error().remedy());
}

void SessionPool::Return(std::unique_ptr<Session> session) {
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(session));
}

}  // namespace firn::db
