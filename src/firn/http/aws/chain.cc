#include "firn/http/aws/chain.h"

#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "firn/http/aws/key_document.h"
#include "firn/http/aws/machine_credentials.h"
#include "firn/http/aws/profiles.h"

namespace firn::http::aws {

namespace {

using Found = std::optional<AwsCredentials>;

Found FromEnvironment(const AwsDeps& deps) {
  const auto id = deps.variable("AWS_ACCESS_KEY_ID");
  const auto secret = deps.variable("AWS_SECRET_ACCESS_KEY");
  if (!id || !secret) return std::nullopt;
  return AwsCredentials{
      {*id, *secret, deps.variable("AWS_SESSION_TOKEN").value_or("")}, std::nullopt, "environment"};
}

Result<Found> FromWebIdentity(const AwsDeps& deps) {
  const auto token_file = deps.variable("AWS_WEB_IDENTITY_TOKEN_FILE");
  const auto role_arn = deps.variable("AWS_ROLE_ARN");
  if (!token_file || !role_arn) return Found();
  const RoleRequest role{.role_arn = *role_arn,
                         .session_name = deps.variable("AWS_ROLE_SESSION_NAME").value_or(""),
                         .external_id = {},
                         .duration_s = 0,
                         .region = DefaultRegion(deps),
                         .endpoint = {}};
  FIRN_ASSIGN(AwsCredentials credentials, AssumeRoleWithWebIdentity(deps, role, *token_file));
  return Found(std::move(credentials));
}

/// The keys of one profile, by way of those that it names.
class ProfileSource {
 public:
  ProfileSource(const AwsDeps& deps, const Profiles& profiles) : deps_(deps), profiles_(profiles) {}

  /// Empty when the profile says nothing of keys.
  Result<Found> Get(const std::string& name) {
    const Profile* profile = profiles_.Find(name);
    if (profile == nullptr)
      return Error(ErrorKind::kInvalidArgument, fmt::format("there is no profile '{}'", name));
    if (profile->contains("role_arn") && visited_.insert(name).second) return FromRole(name, *profile);
    if (profile->contains("aws_access_key_id")) return FromKeys(name, *profile);
    if (profile->contains("credential_process")) return FromProcess(name, *profile);
    if (profile->contains("role_arn"))
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("profile '{}': its source profiles go round in a circle", name));
    if (profile->contains("sso_session") || profile->contains("sso_start_url")) {
      return Error(ErrorKind::kUnsupported,
                   fmt::format("profile '{}' signs in through a browser (SSO)", name))
          .WithRemedy(fmt::format("Make a profile with `credential_process = aws configure "
                                  "export-credentials --profile {}` and name that.",
                                  name));
    }
    return Found();
  }

 private:
  static Result<Found> FromKeys(const std::string& name, const Profile& profile) {
    AwsCredentials credentials{
        {ValueOf(profile, "aws_access_key_id"), ValueOf(profile, "aws_secret_access_key"),
         ValueOf(profile, "aws_session_token")},
        std::nullopt,
        fmt::format("profile '{}'", name)};
    if (!credentials.keys.secret_access_key.empty()) return Found(std::move(credentials));
    return Error(ErrorKind::kInvalidArgument, fmt::format("profile '{}' has no aws_secret_access_key", name));
  }

  Result<Found> FromProcess(const std::string& name, const Profile& profile) {
    const std::string source = fmt::format("credential_process of profile '{}'", name);
    FIRN_ASSIGN_CTX(const std::string output, deps_.run(ValueOf(profile, "credential_process")), source);
    FIRN_ASSIGN(AwsCredentials credentials, ParseKeyDocument(output, source));
    return Found(std::move(credentials));
  }

  Result<Found> FromRole(const std::string& name, const Profile& profile) {
    FIRN_ASSIGN(const RoleRequest role, RoleOf(name, profile));
    const std::string token_file = ValueOf(profile, "web_identity_token_file");
    if (!token_file.empty()) {
      FIRN_ASSIGN(AwsCredentials credentials, AssumeRoleWithWebIdentity(deps_, role, token_file));
      return Found(std::move(credentials));
    }
    FIRN_ASSIGN_CTX(const Found base, BaseOf(name, profile), fmt::format("profile '{}'", name));
    if (!base) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("profile '{}' has a role_arn, but nothing to assume it with", name))
          .WithRemedy("Add source_profile or credential_source.");
    }
    FIRN_ASSIGN(AwsCredentials credentials, AssumeRole(deps_, role, base->keys));
    return Found(std::move(credentials));
  }

  Result<RoleRequest> RoleOf(const std::string& name, const Profile& profile) {
    if (profile.contains("mfa_serial")) {
      return Error(ErrorKind::kUnsupported, fmt::format("profile '{}' asks for a code (mfa_serial)", name))
          .WithRemedy("Use a profile that needs nobody at the keyboard.");
    }
    RoleRequest role{.role_arn = ValueOf(profile, "role_arn"),
                     .session_name = ValueOf(profile, "role_session_name"),
                     .external_id = ValueOf(profile, "external_id"),
                     .duration_s = 0,
                     .region = ValueOf(profile, "region"),
                     .endpoint = {}};
    if (role.region.empty()) role.region = DefaultRegion(deps_, name);
    const std::string duration = ValueOf(profile, "duration_seconds");
    std::from_chars(duration.data(), duration.data() + duration.size(), role.duration_s);
    return role;
  }

  Result<Found> BaseOf(const std::string& name, const Profile& profile) {
    const std::string source_profile = ValueOf(profile, "source_profile");
    if (!source_profile.empty()) return Get(source_profile);  // itself: its own keys, at the second visit
    const std::string source = ValueOf(profile, "credential_source");
    if (source == "Environment") return FromEnvironment(deps_);
    if (source == "EcsContainer") return ContainerCredentials(deps_);
    if (source == "Ec2InstanceMetadata") {
      FIRN_ASSIGN(AwsCredentials credentials, InstanceCredentials(deps_));
      return Found(std::move(credentials));
    }
    if (source.empty()) return Found();
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("profile '{}': unknown credential_source '{}'", name, source))
        .WithRemedy("Allowed: Environment, EcsContainer, Ec2InstanceMetadata.");
  }

  const AwsDeps& deps_;
  const Profiles& profiles_;
  std::set<std::string> visited_;
};

/// `required`: the profile was asked for by name.
Result<Found> FromProfile(const AwsDeps& deps, const std::string& name, bool required) {
  FIRN_ASSIGN(const Profiles profiles, Profiles::Load(deps));
  if (profiles.Find(name) == nullptr && !required) return Found();
  FIRN_ASSIGN(Found found, ProfileSource(deps, profiles).Get(name));
  if (found || !required) return found;
  return Error(ErrorKind::kInvalidArgument, fmt::format("profile '{}' says nothing of keys", name));
}

Error NothingFound(const std::string& profile, const Error& instance) {
  return Error(ErrorKind::kPermissionDenied,
               fmt::format(
                   "no AWS keys found: AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE and "
                   "AWS_CONTAINER_CREDENTIALS_* are not set, there is no profile '{}' with keys, and {}",
                   profile, instance.message()))
      .WithRemedy(
          "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give access-key-id and secret-access-key.");
}

}  // namespace

Result<AwsCredentials> FindCredentials(const AwsDeps& deps, const std::string& profile) {
  const std::string name = ProfileName(deps, profile);
  if (!profile.empty()) {
    FIRN_ASSIGN(Found found, FromProfile(deps, name, /*required=*/true));
    return *std::move(found);
  }
  if (Found found = FromEnvironment(deps)) return *std::move(found);
  FIRN_ASSIGN(Found found, FromWebIdentity(deps));
  if (found) return *std::move(found);
  FIRN_ASSIGN(found, FromProfile(deps, name, deps.variable("AWS_PROFILE").has_value()));
  if (found) return *std::move(found);
  FIRN_ASSIGN(found, ContainerCredentials(deps));
  if (found) return *std::move(found);
  Result<AwsCredentials> instance = InstanceCredentials(deps);
  if (!instance.ok() && instance.error().kind() == ErrorKind::kNotFound)
    return NothingFound(name, instance.error());
  return instance;
}

std::shared_ptr<CredentialsProvider> DefaultCredentials(AwsDeps deps, std::string profile) {
  runtime::Clock& clock = *deps.clock;
  return std::make_shared<RenewedCredentials>(
      [deps = std::move(deps), profile = std::move(profile)] { return FindCredentials(deps, profile); },
      clock);
}

std::shared_ptr<CredentialsProvider> RoleCredentials(AwsDeps deps, RoleRequest role,
                                                     std::shared_ptr<CredentialsProvider> base) {
  runtime::Clock& clock = *deps.clock;
  const auto fetch = [deps = std::move(deps), role = std::move(role), base]() -> Result<AwsCredentials> {
    FIRN_ASSIGN(const AwsCredentials credentials, base->Get());
    return AssumeRole(deps, role, credentials.keys);
  };
  return std::make_shared<RenewedCredentials>(fetch, clock);
}

std::string DefaultRegion(const AwsDeps& deps, const std::string& profile) {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (auto region = deps.variable(name)) return *region;
  }
  const Result<Profiles> profiles = Profiles::Load(deps);
  const Profile* found = profiles.ok() ? profiles->Find(ProfileName(deps, profile)) : nullptr;
  const std::string region = found == nullptr ? "" : ValueOf(*found, "region");
  return region.empty() ? "us-east-1" : region;
}

}  // namespace firn::http::aws
