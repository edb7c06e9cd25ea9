#include "firn/store/s3_access.h"

#include <gtest/gtest.h>

#include "firn/config/load.h"

namespace firn::store {
namespace {

/// What is wrong with the text; empty when it was read.
std::string Read(std::string_view text, S3Access* s3) {
  config::Problems problems;
  const auto root = config::LoadText(text, "firn.yaml", config::SystemEnvironment(), problems);
  if (root) S3AccessSchema().Read(*root, problems, s3);
  return problems.ToString();
}

TEST(S3Access, BecomesPropertiesUnderIcebergsNames) {
  S3Access s3;
  ASSERT_EQ(
      Read("{endpoint: 'http://localhost:9000', region: eu-1, path-style-access: true, access-key-id: id, "
           "secret-access-key: hush, sse: kms, sse-key: k, storage-class: STANDARD_IA, part-size: 16MiB, "
           "role-arn: 'arn:r'}",
           &s3),
      "");
  const std::map<std::string, std::string> expected = {{"s3.endpoint", "http://localhost:9000"},
                                                       {"client.region", "eu-1"},
                                                       {"s3.path-style-access", "true"},
                                                       {"s3.access-key-id", "id"},
                                                       {"s3.secret-access-key", "hush"},
                                                       {"s3.sse.type", "kms"},
                                                       {"s3.sse.key", "k"},
                                                       {"s3.write.storage-class", "STANDARD_IA"},
                                                       {"s3.multipart.part-size-bytes", "16777216"},
                                                       {"client.assume-role.arn", "arn:r"}};
  EXPECT_EQ(ToStoreAccess(s3).properties, expected);
}

TEST(S3Access, NothingSaidIsNothingAsked) { EXPECT_TRUE(ToStoreAccess(S3Access()).properties.empty()); }

TEST(S3Access, TellsWhatDoesNotGoTogetherAndKeepsSecrets) {
  S3Access s3;
  const std::string text = Read(
      "{endpoint: 'localhost:9000', secret-access-key: hush, session-token: hush, sse: s3, sse-key: k, "
      "external-id: e}",
      &s3);
  for (const char* word : {"http://host:port", "together", "belongs to an access-key-id", "KMS", "role-arn"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  EXPECT_EQ(text.find("hush"), std::string::npos) << text;
}

}  // namespace
}  // namespace firn::store
