#include "firn/db/session.h"

#include <utility>

namespace firn::db {

std::string Row::text(size_t column) const {
  if (const auto* value = std::get_if<std::string>(&columns_[column])) return *value;
  return is_null(column) ? std::string() : std::to_string(std::get<int64_t>(columns_[column]));
}

int64_t Row::integer(size_t column) const {
  const auto* value = std::get_if<int64_t>(&columns_[column]);
  return value == nullptr ? 0 : *value;
}

Result<Transaction> Transaction::Begin(Session& session) {
  FIRN_TRY(session.Begin());
  return Transaction(session);
}

Transaction::Transaction(Transaction&& other) noexcept : session_(std::exchange(other.session_, nullptr)) {}

Transaction::~Transaction() {
  // A failed statement may have rolled back already, and there is nobody to tell.
  if (session_ != nullptr) session_->Rollback();
}

Status Transaction::Commit() {
  FIRN_TRY(session_->Commit());
  session_ = nullptr;
  return Ok();
}

}  // namespace firn::db
