#include "firn/commit/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace firn::commit {

Error StopOnUnknown(const UnknownOutcome& unknown) {
  if (unknown.error.kind() == ErrorKind::kCancelled) return unknown.error;
  return Error(
             ErrorKind::kDataLoss,
             fmt::format("it is not known whether the last commit was applied ({}); its files were kept: {}",
                         unknown.error.ToString(), fmt::join(unknown.files, ", ")))
      .WithRemedy(
          "Start again when the catalog answers: the table's own positions decide what is read next.");
}

}  // namespace firn::commit
