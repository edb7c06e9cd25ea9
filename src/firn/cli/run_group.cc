#include "firn/cli/run_group.h"

#include <functional>
#include <utility>

#include "firn/cli/exit_code.h"
#include "firn/runtime/threads.h"

namespace firn::cli {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;

pipeline::PipelineEnd EndOf(const Error& error) {
  switch (ExitCodeOf(error)) {
    case ExitCode::kUserError:
      return pipeline::PipelineEnd::kUserError;
    case ExitCode::kDataStop:
      return pipeline::PipelineEnd::kDataStop;
    default:
      return pipeline::PipelineEnd::kFailed;
  }
}

}  // namespace

struct RunGroup::Member {
  std::string id;
  std::string table;
  std::string catalog_name;
  std::string warehouse;
  std::unique_ptr<pipeline::Pipeline> pipeline;  ///< null when it could not be made
  pipeline::PipelineResult result;               ///< written by the thread, read after it ended
  int64_t started_ns = 0;
  int64_t took_ms = 0;
  std::unique_ptr<runtime::Thread> thread;
};

RunGroup::RunGroup(runtime::Clock& clock, pipeline::RunOptions options, bool fail_fast, std::stop_token stop,
                   std::stop_token abort)
    : clock_(clock),
      options_(std::move(options)),
      fail_fast_(fail_fast),
      pass_stop_on_(std::move(stop), [this] { stop_.request_stop(); }),
      pass_abort_on_(std::move(abort), [this] { abort_.request_stop(); }) {}

RunGroup::~RunGroup() {
  abort_.request_stop();
  stop_.request_stop();
  for (const std::unique_ptr<Member>& member : members_) {
    if (member->thread != nullptr) member->thread->Join();
  }
}

void RunGroup::Add(const pipeline::PipelineConfig& config, Result<std::unique_ptr<pipeline::Pipeline>> made,
                   std::string catalog_name, std::string warehouse) {
  auto member = std::make_unique<Member>();
  member->id = config.id;
  for (const pipeline::TableConfig& rule : config.tables)
    member->table += (member->table.empty() ? "" : ", ") + rule.name.ToString();
  member->catalog_name = std::move(catalog_name);
  member->warehouse = std::move(warehouse);
  if (made.ok()) {
    member->pipeline = std::move(made).value();
  } else {
    member->result = {EndOf(made.error()), made.error().ToString()};
    if (fail_fast_) stop_.request_stop();
  }
  members_.push_back(std::move(member));
}

void RunGroup::Start() {
  for (const std::unique_ptr<Member>& member : members_) running_ += member->pipeline != nullptr ? 1 : 0;
  if (running_ == 0) all_ended_.Set();
  for (const std::unique_ptr<Member>& member : members_) {
    if (member->pipeline == nullptr) continue;
    member->started_ns = clock_.MonotonicNs();
    member->thread =
        runtime::SystemThreads().Start("run-" + member->id, [this, &member = *member] { RunMember(member); });
  }
}

void RunGroup::RunMember(Member& member) {
  member.result = member.pipeline->Run(options_, stop_.get_token(), abort_.get_token());
  member.took_ms = (clock_.MonotonicNs() - member.started_ns) / kNsPerMs;
  if (member.result.end != pipeline::PipelineEnd::kDone && fail_fast_) stop_.request_stop();
  if (running_.fetch_sub(1) == 1) all_ended_.Set();
}

bool RunGroup::WaitFor(int64_t ms) { return all_ended_.WaitFor(ms); }

pipeline::PipelineStatus RunGroup::StatusOf(const Member& member) const {
  if (member.pipeline != nullptr) return member.pipeline->status();
  pipeline::PipelineStatus status;
  status.id = member.id;
  status.table = member.table;
  status.state = pipeline::PipelineState::kFailed;
  status.reason = member.result.message;
  return status;
}

std::vector<pipeline::PipelineStatus> RunGroup::Statuses() const {
  std::vector<pipeline::PipelineStatus> statuses;
  for (const std::unique_ptr<Member>& member : members_) statuses.push_back(StatusOf(*member));
  return statuses;
}

std::vector<EndedPipeline> RunGroup::Ended() const {
  std::vector<EndedPipeline> ended;
  for (const std::unique_ptr<Member>& member : members_) {
    ended.push_back(
        {StatusOf(*member), member->result, member->catalog_name, member->warehouse, member->took_ms});
  }
  return ended;
}

}  // namespace firn::cli
