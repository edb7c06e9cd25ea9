#include "firn/db/postgres_error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

namespace firn::db {

namespace {

struct Meaning {
  std::string_view sqlstate;  ///< a code or, with fewer letters, a class of codes
  ErrorKind kind;
  std::string_view text;
  std::string_view remedy;
};

constexpr std::string_view kWait = "Firn tries again; if it lasts, look at the server.";
constexpr std::string_view kRights =
    "A catalog needs SELECT, INSERT, UPDATE and DELETE on its tables, and CREATE on the schema to make them: "
    "GRANT them to this user.";

// The first that fits. Codes: PostgreSQL manual, appendix "PostgreSQL Error Codes".
constexpr auto kMeanings = std::to_array<Meaning>({
    {"28", ErrorKind::kPermissionDenied, "the server does not let this user in",
     "Check the user and the password (in the uri, $PGPASSWORD or ~/.pgpass), and the server's pg_hba.conf."},
    {"3D000", ErrorKind::kNotFound, "the database does not exist",
     "Create it (CREATE DATABASE), or correct its name in the uri."},
    {"3F000", ErrorKind::kNotFound, "there is no schema to work in",
     "Create it, or correct the search_path of the uri or the user."},
    {"42501", ErrorKind::kPermissionDenied, "a right is missing", kRights},
    {"25006", ErrorKind::kUnavailable, "the server takes no changes (a standby, or a fail-over under way?)",
     "Name the primary, or all servers with target_session_attrs=read-write, in the uri."},
    {"23505", ErrorKind::kAlreadyExists, "a key is already taken", ""},
    {"23", ErrorKind::kInvalidArgument, "the database refuses the row", ""},
    {"22", ErrorKind::kInvalidArgument, "the database does not take a value", ""},
    {"P0", ErrorKind::kInvalidArgument, "a trigger of the database refuses the change", ""},
    {"40003", ErrorKind::kUnknownOutcome, "the server does not know whether it completed", ""},
    {"40", ErrorKind::kUnavailable, "it collided with another transaction", kWait},
    {"55P03", ErrorKind::kUnavailable, "another session holds a lock",
     "Wait, or end the session that holds it."},
    {"57014", ErrorKind::kUnavailable, "it took longer than statement_timeout allows", kWait},
    {"57", ErrorKind::kUnavailable, "the server is starting or stopping", kWait},
    {"53100", ErrorKind::kResourceExhausted, "the server's disk is full", "Free space on it."},
    {"53300", ErrorKind::kUnavailable, "the server has no connection left",
     "Raise its max_connections, or run fewer clients."},
    {"53", ErrorKind::kResourceExhausted, "the server ran out of something", "Look at its log."},
    {"08", ErrorKind::kUnavailable, "the connection failed", kWait},
    {"42P06", ErrorKind::kAlreadyExists, "it is there already", ""},
    {"42P07", ErrorKind::kAlreadyExists, "it is there already", ""},
    {"42", ErrorKind::kCorrupt, "a table or column is not as expected",
     "Check that the database holds what it should."},
    {"XX00", ErrorKind::kCorrupt, "the server reports a fault of its own", "Look at its log."},
});

constexpr Meaning kNoAnswer{"", ErrorKind::kUnavailable, "the server cannot be reached",
                            "Check that it runs, and host, port and TLS parameters of the uri."};
constexpr Meaning kUnexpected{"", ErrorKind::kInternal, "unexpected", ""};

const Meaning& MeaningOf(const std::string& sqlstate) {
  if (sqlstate.empty()) return kNoAnswer;
  const auto* it = std::find_if(kMeanings.begin(), kMeanings.end(),
                                [&](const Meaning& one) { return sqlstate.starts_with(one.sqlstate); });
  return it == kMeanings.end() ? kUnexpected : *it;
}

std::string_view Verb(PostgresAction action) {
  switch (action) {
    case PostgresAction::kConnect:
      return "connect";
    case PostgresAction::kRead:
      return "read it";
    case PostgresAction::kWrite:
      return "write to it";
  }
  return "use it";
}

/// Wrong credentials, names and rights: nothing but the user's doing changes the answer.
bool UserMustAct(ErrorKind kind) {
  return kind == ErrorKind::kPermissionDenied || kind == ErrorKind::kNotFound ||
         kind == ErrorKind::kInvalidArgument;
}

/// One line, without the place in the server's source that the verbose form adds.
std::string OneLine(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    while (!part.empty() && std::isspace(static_cast<unsigned char>(part.front())) != 0)
      part.remove_prefix(1);
    if (part.empty() || part.starts_with("LOCATION:")) continue;
    if (!line.empty()) line += "; ";
    line += part;
  }
  return line;
}

bool IsSqlState(std::string_view text) {
  return text.size() == 5 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isdigit(c) != 0 || std::isupper(c) != 0;
         });
}

}  // namespace

Error ErrorOf(const PostgresFailure& failure, PostgresAction action, std::string_view place) {
  const std::string start = fmt::format("PostgreSQL database {}: ", place);
  const std::string words = OneLine(failure.message);
  if (action == PostgresAction::kWrite && failure.connection_lost) {
    return Error(ErrorKind::kUnknownOutcome,
                 fmt::format("{}the connection broke while a change was under way, which may or may not have "
                             "been made ({})",
                             start, words));
  }
  const Meaning& meaning = MeaningOf(failure.sqlstate);
  ErrorKind kind = meaning.kind;
  if (failure.connection_lost && kind == ErrorKind::kInternal) kind = ErrorKind::kUnavailable;
  Error error(kind, fmt::format("{}cannot {}: {} ({})", start, Verb(action), meaning.text, words));
  if (UserMustAct(kind)) error = std::move(error).WithDomain(ErrorDomain::kUser);
  return std::move(error).WithRemedy(std::string(meaning.remedy));
}

PostgresFailure ConnectFailure(std::string_view text) {
  PostgresFailure failure{"", std::string(text), true};
  // "...: FATAL:  28P01: password authentication failed ...": the words are in the server's language, the
  // code is not.
  constexpr std::string_view kBefore = ":  ";
  for (size_t at = text.find(kBefore); at != std::string_view::npos; at = text.find(kBefore, at + 1)) {
    const std::string_view code = text.substr(at + kBefore.size(), 5);
    if (!IsSqlState(code) || !text.substr(at + kBefore.size() + 5).starts_with(": ")) continue;
    failure.sqlstate = code;
    failure.message.erase(at + kBefore.size(), 7);
    break;
  }
  return failure;
}

}  // namespace firn::db
