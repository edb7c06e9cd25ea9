#pragma once

#include <cstdint>
#include <memory>

#include "firn/base/result.h"
#include "firn/record/file_format.h"
#include "firn/runtime/clock.h"
#include "firn/source/files/config.h"
#include "firn/source/source.h"
#include "firn/store/store.h"

namespace firn::source::files {

/// What a source of files needs from outside.
struct FilesDeps {
  int lanes = 1;
  int64_t prefetch_bytes = int64_t{64} << 20;  ///< share of the memory limit that read-ahead may take
  std::shared_ptr<record::FileFormat> format;
  std::shared_ptr<store::StoreResolver> stores;
  runtime::Clock* clock = nullptr;
};

/// An unopened source. Errors are those of the configuration.
Result<std::unique_ptr<Source>> MakeFilesSource(const FilesConfig& config, const FilesDeps& deps);

}  // namespace firn::source::files
