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
  FIRN_ASSIGN(auto session, Session::Open(options));
  std::lock_guard lock(mutex_);
  options_.create = false;
  return Lease(*this, std::move(session));
}

void SessionPool::Return(std::unique_ptr<Session> session) {
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(session));
}

}  // namespace firn::db
