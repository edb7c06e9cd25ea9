#include "firn/catalog/rest/commit_answer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/catalog/rest/answer.h"
#include "firn/catalog/rest/error.h"
#include "firn/iceberg/model/json_access.h"
#include "firn/iceberg/model/update_json.h"

namespace firn::catalog::rest {

namespace {

using iceberg::CatalogCommitResult;
using iceberg::CommitConflict;
using iceberg::CommitDone;
using iceberg::CommitRejected;
using iceberg::CommitUnknown;
using nlohmann::json;

constexpr std::string_view kRemedyOfUnknown = "Whether the commit was applied shows in the table's history.";

CommitUnknown Unknown(const Error& error) {
  return {Error(ErrorKind::kUnknownOutcome, error.ToString())
              .WithDomain(error.domain())
              .WithHttpStatus(error.http_status())
              .WithServiceType(error.service_type())
              .WithRemedy(std::string(kRemedyOfUnknown))};
}

/// What the table of an answer lacks of the commit that it answers; empty when it has all of it.
struct MissingIn {
  const iceberg::TableMetadata& table;

  std::string operator()(const iceberg::update::AddSnapshot& added) const {
    if (table.FindSnapshot(added.snapshot.snapshot_id) != nullptr) return {};
    return fmt::format("the new snapshot {}", added.snapshot.snapshot_id);
  }
  std::string operator()(const iceberg::update::AddSchema& added) const {
    const bool there = std::ranges::any_of(
        table.schemas, [&](const auto& schema) { return schema->SameFields(*added.schema); });
    return there ? "" : "the new schema";
  }
  std::string operator()(const iceberg::update::SetProperties& set) const {
    for (const auto& [key, value] : set.properties) {
      const auto property = table.properties.find(key);
      if (property == table.properties.end() || property->second != value)
        return fmt::format("the new value of property {}", key);
    }
    return {};
  }
  std::string operator()(const auto& /*other*/) const { return {}; }
};

/// Whether the answer's table is the one that the commit made.
Status CheckApplied(const iceberg::TableCommit& commit, const iceberg::TableMetadata& table) {
  if (table.table_uuid != commit.base.metadata->table_uuid)
    return Error(ErrorKind::kCorrupt, fmt::format("the answer is about another table, {}", table.table_uuid));
  for (const iceberg::Update& update : commit.updates) {
    const std::string missing = std::visit(MissingIn{table}, update);
    if (!missing.empty())
      return Error(ErrorKind::kCorrupt, fmt::format("the answer's table does not hold {}", missing));
  }
  return Ok();
}

CatalogCommitResult OfSuccess(const iceberg::TableCommit& commit, const http::HttpResponse& response,
                              std::string_view request) {
  auto answer = ParseTableAnswer(response.body);
  if (!answer.ok()) return Unknown(ErrorOfBody(response, request, answer.error()));
  if (Status applied = CheckApplied(commit, *answer->metadata); !applied.ok())
    return Unknown(std::move(applied).error().WithContext(request));
  return CommitDone{{commit.base.identifier, std::move(answer->metadata_location),
                     std::move(answer->metadata), commit.base.store}};
}

/// A server error whose request was surely not carried out: the method, or the version of HTTP, is not known.
bool IsRefusalBeforeWork(int status) { return status == 501 || status == 505; }

CatalogCommitResult OfFailure(const http::HttpResponse& response, std::string_view request) {
  const int status = response.status;
  Error error = ErrorOfAnswer(response, request);
  const bool is_server_error = status >= 500 && !IsRefusalBeforeWork(status);
  const bool says_unknown = error.service_type() == "CommitStateUnknownException";
  if (status < 300 || status == 408 || is_server_error || says_unknown) return Unknown(error);
  if (status == 409) return CommitConflict{std::move(error).WithRetry(RetryHint::kYes), /*may_be_echo=*/true};
  // The catalog's own refusals carry a type.
  const bool is_catalogs = !error.service_type().empty();
  return CommitRejected{std::move(error), /*may_have_passed=*/!is_catalogs};
}

}  // namespace

Result<std::string> CommitBody(const iceberg::TableCommit& commit) {
  json requirements = json::array();
  for (const auto& requirement : commit.requirements) requirements.push_back(iceberg::ToJson(requirement));
  int format_version = commit.base.metadata->format_version;
  json updates = json::array();
  for (const auto& update : commit.updates) {
    if (const auto* upgrade = std::get_if<iceberg::update::UpgradeFormatVersion>(&update))
      format_version = std::max(format_version, upgrade->format_version);
    updates.push_back(iceberg::ToJson(update, format_version));
  }
  const iceberg::TableIdentifier& table = commit.base.identifier;
  return iceberg::DumpJson({{"identifier", {{"namespace", table.ns}, {"name", table.name}}},
                            {"requirements", std::move(requirements)},
                            {"updates", std::move(updates)}});
}

CatalogCommitResult CommitResultOf(const iceberg::TableCommit& commit, Result<http::HttpResponse> outcome,
                                   std::string_view request) {
  if (outcome.ok())
    return outcome->status == 200 ? OfSuccess(commit, *outcome, request) : OfFailure(*outcome, request);
  Error error = std::move(outcome).error().WithContext(request);
  const ErrorKind kind = error.kind();
  const bool not_sent = kind == ErrorKind::kUnavailable || kind == ErrorKind::kPermissionDenied ||
                        kind == ErrorKind::kInvalidArgument;
  if (not_sent) return CommitRejected{std::move(error)};
  return Unknown(error);
}

}  // namespace firn::catalog::rest
