#include "firn/db/postgres_error.h"

#include <gtest/gtest.h>

namespace firn::db {
namespace {

ErrorKind KindOf(const std::string& sqlstate, PostgresAction action = PostgresAction::kWrite) {
  return ErrorOf({sqlstate, "words", false}, action, "postgresql://h/db").kind();
}

TEST(PostgresError, CodesBecomeKindsByWhichCallersDecide) {
  EXPECT_EQ(KindOf("28P01"), ErrorKind::kPermissionDenied);
  EXPECT_EQ(KindOf("3D000"), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf("42501"), ErrorKind::kPermissionDenied);
  EXPECT_EQ(KindOf("42P01"), ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf("23505"), ErrorKind::kAlreadyExists);
  EXPECT_EQ(KindOf("22001"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(KindOf("25006"), ErrorKind::kUnavailable);
  EXPECT_EQ(KindOf("55P03"), ErrorKind::kUnavailable);
  EXPECT_EQ(KindOf("57014"), ErrorKind::kUnavailable);
  EXPECT_EQ(KindOf("57P03"), ErrorKind::kUnavailable);
  EXPECT_EQ(KindOf("53100"), ErrorKind::kResourceExhausted);
  EXPECT_EQ(KindOf("53300"), ErrorKind::kUnavailable);
  EXPECT_EQ(KindOf("40001"), ErrorKind::kUnavailable);
  EXPECT_EQ(KindOf("40003"), ErrorKind::kUnknownOutcome);
  EXPECT_EQ(KindOf("99999"), ErrorKind::kInternal);
}

TEST(PostgresError, LostConnectionLeavesAWriteOpenAndARead) {
  const PostgresFailure lost{"57P01", "terminating connection", true};
  EXPECT_EQ(ErrorOf(lost, PostgresAction::kWrite, "p").kind(), ErrorKind::kUnknownOutcome);
  EXPECT_EQ(ErrorOf(lost, PostgresAction::kRead, "p").kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(ErrorOf({"", "EOF", true}, PostgresAction::kRead, "p").kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(ErrorOf({"", "EOF", true}, PostgresAction::kConnect, "p").retry(), RetryHint::kYes);
}

TEST(PostgresError, WhatOnlyTheUserCanMendIsTheUsers) {
  EXPECT_EQ(ErrorOf({"28P01", "no", true}, PostgresAction::kConnect, "p").domain(), ErrorDomain::kUser);
  EXPECT_EQ(ErrorOf({"42501", "no", false}, PostgresAction::kWrite, "p").domain(), ErrorDomain::kUser);
  EXPECT_EQ(ErrorOf({"", "refused", true}, PostgresAction::kConnect, "p").domain(), ErrorDomain::kExternal);
}

TEST(PostgresError, CodeIsReadFromAConnectionsFailureInAnyLanguage) {
  auto failure = ConnectFailure(
      "connection to server at \"h\" (10.0.0.1), port 5432 failed: FATAL:  28P01: password authentication "
      "failed for user \"me\"\nLOCATION:  auth_failed, auth.c:326\n");
  EXPECT_EQ(failure.sqlstate, "28P01");
  const std::string text = ErrorOf(failure, PostgresAction::kConnect, "postgresql://me@h/db").ToString();
  EXPECT_NE(text.find("FATAL:  password authentication failed"), std::string::npos) << text;
  EXPECT_EQ(text.find("auth.c"), std::string::npos) << text;
  EXPECT_EQ(ConnectFailure("... : SCHWERWIEGEND:  3D000: Datenbank »x« existiert nicht").sqlstate, "3D000");
}

TEST(PostgresError, FailureWithoutAnAnswerHasNoCode) {
  for (const char* text : {"connection to server at \"127.0.0.1\", port 1 failed: Connection refused", "",
                           ":  ", ":  ABCDE", ":  abcde: x", "could not translate host name \"x\": y"}) {
    EXPECT_EQ(ConnectFailure(text).sqlstate, "") << text;
  }
}

}  // namespace
}  // namespace firn::db
