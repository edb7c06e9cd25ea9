#pragma once

#include <map>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/http/aws/environment.h"

namespace firn::http::aws {

/// The keys of one profile, the credentials file's over the config file's. Nested ones are left out.
using Profile = std::map<std::string, std::string, std::less<>>;

/// The profiles of AWS's shared files.
class Profiles {
 public:
  /// Reads `AWS_CONFIG_FILE` and `AWS_SHARED_CREDENTIALS_FILE`, by default ~/.aws/config and
  /// ~/.aws/credentials. Files that are not there are empty; one that cannot be read or parsed is an error.
  static Result<Profiles> Load(const AwsDeps& deps);

  /// Null when there is no such profile.
  const Profile* Find(std::string_view name) const;

  /// One file into `profiles`: `[name]`, `key = value`, comments with # or ;. In the config file a profile is
  /// `[profile name]` or `[default]`, other sections are not looked at.
  static Status ParseFile(std::string_view text, bool is_config,
                          std::map<std::string, Profile, std::less<>>* profiles);

 private:
  std::map<std::string, Profile, std::less<>> profiles_;
};

/// `AWS_PROFILE`, or "default".
std::string ProfileName(const AwsDeps& deps, const std::string& configured);

/// The value of a key; empty when it is not there.
std::string ValueOf(const Profile& profile, std::string_view key);

}  // namespace firn::http::aws
