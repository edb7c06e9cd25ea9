#pragma once

#include <string_view>

#include "firn/base/result.h"

/// Named fault points, compiled in only with FIRN_FAULT_POINTS (preset `faults`), in the order of a batch's
/// life. `FIRN_FAULT=name:nth:kill|stop|error|delay` arms one, several are separated by commas. This list is
/// the only one; test/faults kills at each of them.
///
///   upload_part_after_sent S3: a part of a file of several is there, the file is not
///   metadata_after_write   SQL catalogs; with a REST catalog the server writes that file
///   commit_request_sent    REST catalogs: the request has left, the answer is awaited
///   commit_after_stored    the catalog has the commit, and its answer is not looked at yet
///   dead_letters_after_commit   the letters of a batch are in, the batch is not
///   bound_*                around the write of the lower bound of a pipeline with many tables
#define FIRN_FAULT_POINT_LIST(X) \
  X(data_file_before_create)     \
  X(data_file_during_write)      \
  X(upload_part_after_sent)      \
  X(data_file_after_finish)      \
  X(batch_before_finish)         \
  X(batch_after_finish)          \
  X(dead_letters_after_commit)   \
  X(manifest_after_write)        \
  X(manifest_list_after_write)   \
  X(metadata_after_write)        \
  X(commit_before_request)       \
  X(commit_request_sent)         \
  X(commit_after_stored)         \
  X(commit_after_answer)         \
  X(group_offsets_after_commit)  \
  X(bound_before_write)          \
  X(bound_after_write)

namespace firn::runtime {

/// Arms the points that `FIRN_FAULT` names; call at start. An unknown name, a broken text, or any text at all
/// in a build without fault points is kInvalidArgument: a test that kills nothing must not pass.
Status ArmFaultsFromEnvironment();
/// The same from a text; "" disarms all. Counting starts anew. `nth` is counted from 1; the action happens at
/// that hit only: kill (SIGKILL to ourselves), stop (SIGSTOP: the process stands still until SIGCONT), error,
/// delay (one second).
Status ArmFaults(std::string_view text);

#ifdef FIRN_FAULT_POINTS
enum class FaultPoint : unsigned char {
#define FIRN_FAULT_ENUM(name) name,
  FIRN_FAULT_POINT_LIST(FIRN_FAULT_ENUM)
#undef FIRN_FAULT_ENUM
};
/// Kills, stops, delays or returns an error (kUnavailable "injected fault ...") when armed and due; Ok
/// otherwise.
Status HitFaultPoint(FaultPoint point);
#endif

}  // namespace firn::runtime

#ifdef FIRN_FAULT_POINTS
#define FIRN_FAULT_POINT(name) FIRN_TRY(::firn::runtime::HitFaultPoint(::firn::runtime::FaultPoint::name))
#else
#define FIRN_FAULT_POINT(name) \
  do {                         \
  } while (false)
#endif
