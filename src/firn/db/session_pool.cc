#include "firn/db/session_pool.h"

namespace firn::db {

namespace {

void NeverCreateAgain(DatabaseOptions& options) {
  if (auto* sqlite = std::get_if<SqliteOptions>(&options)) sqlite->create = false;
}

}  // namespace

Result<SessionPool::Lease> SessionPool::Get() {
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return lent_ < kMaxSessions; });
    ++lent_;
  }
  if (auto session = TakeIdle()) return Lease(*this, std::move(session));
  auto session = OpenNew();
  if (session.ok()) return Lease(*this, *std::move(session));
  Return(nullptr);
  return std::move(session).error();
}

std::unique_ptr<Session> SessionPool::TakeIdle() {
  while (true) {
    std::unique_ptr<Session> session;
    {
      std::lock_guard lock(mutex_);
      if (idle_.empty()) return nullptr;
      session = std::move(idle_.back());
      idle_.pop_back();
    }
    if (session->CheckUsable().ok()) return session;
  }
}

Result<std::unique_ptr<Session>> SessionPool::OpenNew() {
  DatabaseOptions options;
  {
    std::lock_guard lock(mutex_);
    options = options_;
  }
  auto session = OpenSession(options);
  std::lock_guard lock(mutex_);
  if (session.ok()) {
    opened_ = true;
    NeverCreateAgain(options_);
    return session;
  }
  if (!opened_ || session.error().kind() != ErrorKind::kNotFound) return session;
  return Error(ErrorKind::kUnavailable, session.error().message() + " any more")
      .WithRemedy(session.error().remedy());
}

void SessionPool::Return(std::unique_ptr<Session> session) {
  {
    std::lock_guard lock(mutex_);
    --lent_;
    if (session != nullptr) idle_.push_back(std::move(session));
  }
  returned_.notify_one();
}

}  // namespace firn::db
