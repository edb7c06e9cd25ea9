#include "firn/http/aws/chain.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "firn/http/aws/machine_credentials.h"
#include "firn/http/aws/profiles.h"
#include "firn/http/aws/shell.h"
#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"

namespace firn::http::aws {
namespace {

constexpr const char* kEndText = "2023-11-15T00:00:00Z";
constexpr int64_t kEndMs = 1'700'006'400'000;

/// STS, the container's endpoint and the instance's metadata in one; answers by URL.
class FakeAws final : public HttpClient {
 public:
  Result<HttpResponse> Send(const HttpRequest& request) override {
    asked.push_back(request.method + ' ' + request.url + ' ' + std::string(request.body));
    headers.push_back(request.headers);
    HttpResponse answer;
    for (const auto& [part, response] : answers) {
      if (asked.back().find(part) == std::string::npos) continue;
      answer.status = response.first;
      answer.body = response.second;
      return answer;
    }
    return Error(ErrorKind::kUnavailable, "nobody there");
  }

  std::string HeaderOf(size_t request, const std::string& name) const {
    for (const auto& [key, value] : headers.at(request))
      if (key == name) return value;
    return {};
  }

  std::map<std::string, std::pair<int, std::string>> answers;
  std::vector<std::string> asked;
  std::vector<HttpHeaders> headers;
};

std::string StsAnswer(const std::string& action, const std::string& id) {
  return "<" + action + "Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><" + action +
         "Result><Credentials><AccessKeyId>" + id +
         "</AccessKeyId><SecretAccessKey>sts-secret</SecretAccessKey><SessionToken>sts-token</SessionToken>"
         "<Expiration>" +
         kEndText + "</Expiration></Credentials></" + action + "Result></" + action + "Response>";
}

class ChainTest : public ::testing::Test {
 protected:
  ChainTest() {
    deps_.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
    deps_.read_file = [this](const std::string& path) -> Result<std::string> {
      const auto found = files_.find(path);
      if (found == files_.end()) return Error(ErrorKind::kNotFound, "no file " + path);
      return found->second;
    };
    deps_.run = [this](const std::string& command) -> Result<std::string> {
      commands_.push_back(command);
      return process_output_;
    };
    deps_.http = deps_.metadata = aws_;
    deps_.clock = &clock_;
    deps_.ids = &ids_;
    variables_["HOME"] = "/home/u";
  }

  Result<AwsCredentials> Find(const std::string& profile = {}) { return FindCredentials(deps_, profile); }

  AwsDeps deps_;
  std::map<std::string, std::string> variables_;
  std::map<std::string, std::string> files_;
  std::vector<std::string> commands_;
  std::string process_output_;
  std::shared_ptr<FakeAws> aws_ = std::make_shared<FakeAws>();
  runtime::ManualClock clock_;
  runtime::SeededIds ids_{3};
};

TEST_F(ChainTest, EnvironmentComesFirst) {
  variables_["AWS_ACCESS_KEY_ID"] = "env-id";
  variables_["AWS_SECRET_ACCESS_KEY"] = "env-secret";
  variables_["AWS_SESSION_TOKEN"] = "env-token";
  files_["/home/u/.aws/credentials"] = "[default]\naws_access_key_id = file-id\naws_secret_access_key = s\n";
  const AwsCredentials found = Find().value();
  EXPECT_EQ(found.keys.access_key_id, "env-id");
  EXPECT_EQ(found.keys.session_token, "env-token");
  EXPECT_FALSE(found.expires_at_ms.has_value());
  EXPECT_EQ(Find("default")->keys.access_key_id, "file-id");  // asked for by name
}

TEST_F(ChainTest, WebIdentityTokenIsReadFromItsFileEachTime) {
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/var/token";
  variables_["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
  variables_["AWS_REGION"] = "eu-west-3";
  files_["/var/token"] = "jwt-1\n";
  aws_->answers["sts.eu-west-3.amazonaws.com"] = {200, StsAnswer("AssumeRoleWithWebIdentity", "web-id")};
  const AwsCredentials found = Find().value();
  EXPECT_EQ(found.keys.access_key_id, "web-id");
  EXPECT_EQ(found.expires_at_ms, kEndMs);
  EXPECT_NE(aws_->asked[0].find("WebIdentityToken=jwt-1"), std::string::npos);
  EXPECT_EQ(aws_->HeaderOf(0, "authorization"), "");
  files_["/var/token"] = "jwt-2";
  ASSERT_TRUE(Find().ok());
  EXPECT_NE(aws_->asked[1].find("WebIdentityToken=jwt-2"), std::string::npos);
}

TEST_F(ChainTest, ProfileOfEitherFile) {
  variables_["AWS_PROFILE"] = "etl";
  files_["/home/u/.aws/config"] = "[profile etl]\nregion = ap-1 ; where it is\naws_access_key_id=config-id\n";
  files_["/home/u/.aws/credentials"] =
      "# keys\n[other]\naws_access_key_id = x\n[etl]\naws_access_key_id = file-id\naws_secret_access_key = "
      "a#b;c\n";
  const AwsCredentials found = Find().value();
  EXPECT_EQ(found.keys.access_key_id, "file-id");
  EXPECT_EQ(found.keys.secret_access_key, "a#b;c");
  EXPECT_EQ(DefaultRegion(deps_), "ap-1");
  variables_["AWS_PROFILE"] = "none";
  EXPECT_EQ(Find().error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(DefaultRegion(deps_), "us-east-1");
}

TEST_F(ChainTest, CredentialProcessIsRun) {
  files_["/home/u/.aws/config"] = "[default]\ncredential_process = /bin/keys --for 'me'\n";
  process_output_ =
      R"({"Version":1,"AccessKeyId":"p-id","SecretAccessKey":"p-secret","SessionToken":"t","Expiration":"2023-11-15T00:00:00+00:00"})";
  const AwsCredentials found = Find().value();
  EXPECT_EQ(commands_, std::vector<std::string>{"/bin/keys --for 'me'"});
  EXPECT_EQ(found.keys.access_key_id, "p-id");
  EXPECT_EQ(found.expires_at_ms, kEndMs);
  process_output_ = R"({"SecretAccessKey":"very-secret"})";
  const std::string text = Find().error().ToString();
  EXPECT_EQ(text.find("very-secret"), std::string::npos) << text;
}

TEST_F(ChainTest, RoleIsAssumedWithTheKeysOfItsSourceProfile) {
  files_["/home/u/.aws/config"] =
      "[profile job]\nrole_arn = arn:aws:iam::1:role/job\nsource_profile = base\nexternal_id = e 1\n"
      "duration_seconds = 900\nregion = eu-1\n[profile "
      "base]\nrole_arn=arn:aws:iam::1:role/base\nsource_profile=base\n"
      "aws_access_key_id = base-id\naws_secret_access_key = base-secret\n";
  aws_->answers["role%2Fjob"] = {200, StsAnswer("AssumeRole", "job-id")};
  aws_->answers["role%2Fbase"] = {200, StsAnswer("AssumeRole", "role-base-id")};
  EXPECT_EQ(Find("job")->keys.access_key_id, "job-id");
  ASSERT_EQ(aws_->asked.size(), 2U);
  EXPECT_NE(aws_->HeaderOf(0, "authorization").find("Credential=base-id/"), std::string::npos);
  EXPECT_NE(aws_->HeaderOf(1, "authorization").find("Credential=role-base-id/"), std::string::npos);
  EXPECT_EQ(aws_->HeaderOf(1, "x-amz-security-token"), "sts-token");
  EXPECT_NE(aws_->asked[1].find("ExternalId=e+1"), std::string::npos) << aws_->asked[1];
  EXPECT_NE(aws_->asked[1].find("DurationSeconds=900"), std::string::npos);
}

TEST_F(ChainTest, ProfilesThatCannotWorkSayWhy) {
  files_["/home/u/.aws/config"] =
      "[profile a]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = r\nsource_profile = a\n"
      "[profile sso]\nsso_session = s\n[profile mfa]\nrole_arn = r\nmfa_serial = m\nsource_profile = a\n"
      "[profile alone]\nrole_arn = r\n[profile odd]\nrole_arn = r\ncredential_source = Moon\n[profile "
      "empty]\n"
      "region = x\n[profile gone]\nrole_arn = r\nsource_profile = nowhere\n";
  for (const auto& [name, word] : std::map<std::string, std::string>{{"a", "circle"},
                                                                     {"sso", "credential_process"},
                                                                     {"mfa", "mfa_serial"},
                                                                     {"alone", "source_profile"},
                                                                     {"odd", "Moon"},
                                                                     {"empty", "nothing"},
                                                                     {"gone", "nowhere"},
                                                                     {"none", "no profile"}}) {
    const Result<AwsCredentials> found = Find(name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_NE(found.error().ToString().find(word), std::string::npos) << found.error().ToString();
  }
}

TEST_F(ChainTest, RefusedRoleIsToldWithStsWords) {
  files_["/home/u/.aws/config"] =
      "[profile job]\nrole_arn = arn:r\nsource_profile = job\naws_access_key_id = i\naws_secret_access_key = "
      "hush\n";
  aws_->answers["sts"] = {
      403,
      "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not yours</Message></Error>"
      "</ErrorResponse>"};
  const Error error = Find("job").error();
  EXPECT_EQ(error.kind(), ErrorKind::kPermissionDenied);
  EXPECT_NE(error.ToString().find("AccessDenied: not yours"), std::string::npos) << error.ToString();
  EXPECT_EQ(error.ToString().find("hush"), std::string::npos);
  EXPECT_EQ(aws_->asked.size(), 1U);
}

TEST_F(ChainTest, StsThatIsBusyIsAskedAgain) {
  files_["/home/u/.aws/config"] =
      "[profile job]\nrole_arn = arn:r\nsource_profile = job\naws_access_key_id = i\naws_secret_access_key = "
      "s\n";
  aws_->answers["sts"] = {503, "busy"};
  EXPECT_EQ(Find("job").error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(aws_->asked.size(), 5U);
}

TEST_F(ChainTest, ContainerWithItsToken) {
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://169.254.170.23/v1/credentials";
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = "/var/token";
  files_["/var/token"] = "pod-token\n";
  aws_->answers["169.254.170.23/v1/credentials"] = {
      200, R"({"AccessKeyId":"c-id","SecretAccessKey":"s","Token":"t","Expiration":"2023-11-15T00:00:00Z"})"};
  EXPECT_EQ(Find()->keys.access_key_id, "c-id");
  EXPECT_EQ(Find()->keys.session_token, "t");
  EXPECT_EQ(aws_->HeaderOf(0, "authorization"), "pod-token");
}

TEST_F(ChainTest, ContainerTokenIsNotSentInTheClearToOthers) {
  for (const char* url : {"http://example.com/keys", "http://127.0.0.1.example.com/",
                          "http://169.254.170.2.evil/", "http://10.0.0.1/", "ftp://localhost/"}) {
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
    EXPECT_EQ(Find().error().kind(), ErrorKind::kInvalidArgument) << url;
  }
  EXPECT_TRUE(aws_->asked.empty());
}

TEST_F(ChainTest, InstanceRoleByVersion2OfTheMetadataService) {
  aws_->answers["PUT http://169.254.169.254/latest/api/token"] = {200, "imds-token"};
  aws_->answers["security-credentials/ "] = {200, "node-role"};
  aws_->answers["security-credentials/node-role"] = {
      200,
      R"({"Code":"Success","AccessKeyId":"i-id","SecretAccessKey":"s","Token":"t","Expiration":"2023-11-15T00:00:00Z"})"};
  const AwsCredentials found = Find().value();
  EXPECT_EQ(found.keys.access_key_id, "i-id");
  EXPECT_EQ(found.source, "instance role node-role");
  EXPECT_EQ(aws_->HeaderOf(0, "x-aws-ec2-metadata-token-ttl-seconds"), "21600");
  EXPECT_EQ(aws_->HeaderOf(2, "x-aws-ec2-metadata-token"), "imds-token");
}

TEST_F(ChainTest, NoKeysAnywhereNamesWhereWasLooked) {
  const Error error = Find().error();
  EXPECT_EQ(error.kind(), ErrorKind::kPermissionDenied);
  EXPECT_EQ(error.retry(), RetryHint::kNo);
  for (const char* word : {"AWS_ACCESS_KEY_ID", "profile 'default'", "instance metadata"})
    EXPECT_NE(error.ToString().find(word), std::string::npos) << error.ToString();
  aws_->asked.clear();
  variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  EXPECT_FALSE(Find().ok());
  EXPECT_TRUE(aws_->asked.empty());
}

TEST_F(ChainTest, BrokenProfileFileNamesItsLine) {
  files_["/home/u/.aws/credentials"] = "[default]\nwhat is this\n";
  EXPECT_NE(Find().error().ToString().find("/home/u/.aws/credentials: line 2"), std::string::npos)
      << Find().error().ToString();
}

TEST_F(ChainTest, RoleCredentialsAreRenewedWithTheKeysOfTheMoment) {
  aws_->answers["sts"] = {200, StsAnswer("AssumeRole", "role-id")};
  const auto provider = RoleCredentials(deps_, {.role_arn = "arn:r", .region = "eu-1"},
                                        StaticCredentials({"base", "secret", ""}, "configuration"));
  EXPECT_EQ(provider->Get()->keys.access_key_id, "role-id");
  EXPECT_EQ(provider->Get()->keys.access_key_id, "role-id");
  EXPECT_EQ(aws_->asked.size(), 1U);
  clock_.SetWall(kEndMs - 60'000);
  ASSERT_TRUE(provider->Get().ok());
  EXPECT_EQ(aws_->asked.size(), 2U);
}

TEST(Shell, GivesTheOutputOrWhyThereIsNone) {
  EXPECT_EQ(RunInShell("printf 'a b'; cat", 10'000).value(), "a b");
  const Error failed = RunInShell("echo secret; exit 3", 10'000).error();
  EXPECT_NE(failed.message().find("exit code 3"), std::string::npos);
  EXPECT_EQ(failed.message().find("secret"), std::string::npos);
  EXPECT_EQ(RunInShell("sleep 60", 100).error().kind(), ErrorKind::kTimeout);
}

}  // namespace
}  // namespace firn::http::aws
