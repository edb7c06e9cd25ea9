#include "sim/simulation.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/engine.h"
#include "sim/mutations.h"
#include "sim/oracle.h"
#include "sim/worker.h"

namespace firn::sim {

namespace {

constexpr int32_t kPartitions = 3;
const iceberg::TableIdentifier kLetters{{"shop"}, "letters"};

std::vector<record::SourcePartition> Partitions() {
  std::vector<record::SourcePartition> partitions;
  for (int32_t i = 0; i < kPartitions; ++i) partitions.push_back({"events", i});
  return partitions;
}

// What differs from run to run beside the order of things.
struct Plan {
  bool many = false;  ///< a field says which of two tables a record goes to
  int64_t length_ms = 0;
  int64_t workers = 1;
  int64_t records = 0;
  int64_t bad_one_in = 0;
  int64_t kill_every_ms = 0;
  int64_t rebalance_every_ms = 0;
  int64_t rewrite_every_ms = 0;
  int64_t expire_every_ms = 0;
  int64_t most_skew_ms = 0;
  FaultRates rates;
};

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : scheduler_(seed) {
    plan_ = DrawPlan();
    rates_ = plan_.rates;
    Configure();
    for (const auto& partition : broker_.partitions()) broker_.log().AddPartition(partition);
    Ignore(catalog_.tables().CreateNamespace({"shop"}, {}));
    catalog_.Observe([this](const auto& before, const auto& after) { oracle_.OnCommit(before, after); });
  }

  SimOutcome Run() {
    scheduler_.Spawn(nullptr, [this] { Main(); });
    if (Status ran = scheduler_.Run(); !ran.ok()) oracle_.Wrong(ran.error().ToString());
    return {oracle_.wrong(),
            scheduler_.trace(),
            scheduler_.turns(),
            scheduler_.now_ms(),
            oracle_.rows(),
            oracle_.commits(),
            kills_,
            engine_.rewrites(),
            engine_.expiries()};
  }

 private:
  Plan DrawPlan();
  void Configure();
  bool wrong() const { return !oracle_.wrong().empty(); }
  bool over() const { return over_ || wrong(); }

  void Main();
  void Settle();
  void Judge(const pipeline::PipelineResult& result, const std::string& name);
  std::vector<iceberg::TableIdentifier> Tables() const;
  iceberg::TableIdentifier AnyTable();
  Worker& NewWorker(const std::string& name);

  // --- actors, a fiber each

  void Supervise(int64_t slot);
  void Produce();
  void Torment();
  void Every(int64_t ms, const std::function<Status()>& act);

  Scheduler scheduler_;
  Plan plan_;
  FaultRates rates_;
  bool over_ = false;
  int acting_ = 0;
  int kills_ = 0;

  SimClock clock_{scheduler_};
  SimThreads threads_{scheduler_};
  SimIds ids_{scheduler_};
  Network network_{scheduler_, rates_};
  std::shared_ptr<store::MemoryStore> disk_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<source::MemoryLog> log_ = std::make_shared<source::MemoryLog>();
  SimCatalogServer catalog_{disk_, clock_, scheduler_};
  SimBroker broker_{scheduler_, log_, Partitions()};
  Engine engine_{catalog_, disk_, clock_, ids_, scheduler_};
  Oracle oracle_{disk_, log_, "p"};
  pipeline::PipelineConfig config_;
  static obs::Metrics& SharedMetrics() {
    static obs::Metrics metrics;
    return metrics;
  }
  World world_{scheduler_, clock_,  threads_, ids_,    network_,
               catalog_,   broker_, disk_,    config_, SharedMetrics()};
  std::vector<std::unique_ptr<Worker>> workers_;  ///< all there ever were: the killed ones run out
  std::vector<Worker*> current_;                  ///< by slot
};

Plan Simulation::DrawPlan() {
  Scheduler& s = scheduler_;
  const auto rarely = [&](int64_t least, int64_t most) { return s.OneIn(3) ? 0 : s.Between(least, most); };
  Plan plan;
  plan.many = s.OneIn(3);
  plan.length_ms = s.Between(3'000, 25'000);
  plan.workers = s.OneIn(3) ? 1 : 2;
  plan.records = s.Between(20, 90);
  plan.bad_one_in = s.OneIn(3) ? s.Between(4, 20) : 0;
  plan.kill_every_ms = rarely(1'500, 8'000);
  plan.rebalance_every_ms = rarely(1'000, 6'000);
  plan.rewrite_every_ms = rarely(300, 3'000);
  plan.expire_every_ms = rarely(300, 4'000);
  plan.most_skew_ms = s.OneIn(2) ? s.Between(0, 600'000) : 0;
  plan.rates = {rarely(60, 600), rarely(10, 200), rarely(2, 12), rarely(20, 200)};
  return plan;
}

void Simulation::Configure() {
  config_.key = config_.id = "p";
  pipeline::TableConfig& table = config_.tables.front();
  table.name = {"lake", {"shop"}, plan_.many ? "{kind}" : "events"};
  table.columns.resize(2);
  table.columns[0].name = "part";
  table.columns[0].type = "int";
  table.columns[1].name = "offset";
  table.columns[1].type = "long";
  table.partition_by = {"part"};
  table.properties = {{"write.parquet.compression-codec", "uncompressed"},
                      {"commit.manifest.min-count-to-merge", std::to_string(scheduler_.Between(2, 6))}};
  if (scheduler_.OneIn(3))
    table.properties["history.expire.max-snapshot-age-ms"] = std::to_string(scheduler_.Between(500, 6'000));
  config_.commit.interval_ms = scheduler_.Between(200, 1'500);
  config_.dead_letters.table = {"lake", {"shop"}, "letters"};
  config_.dead_letters.fail_above_min_records = 1'000'000;
}

std::vector<iceberg::TableIdentifier> Simulation::Tables() const {
  if (!plan_.many) return {{{"shop"}, "events"}};
  return {{{"shop"}, "a"}, {{"shop"}, "b"}};
}

iceberg::TableIdentifier Simulation::AnyTable() {
  const auto tables = Tables();
  return tables[static_cast<size_t>(scheduler_.Random() % tables.size())];
}

Worker& Simulation::NewWorker(const std::string& name) {
  const int64_t skew_ms = scheduler_.Between(-plan_.most_skew_ms, plan_.most_skew_ms);
  workers_.push_back(std::make_unique<Worker>(world_, name, skew_ms));
  return *workers_.back();
}

void Simulation::Main() {
  current_.resize(static_cast<size_t>(plan_.workers));
  const auto act = [&](std::function<void()> body) {
    ++acting_;
    scheduler_.Spawn(nullptr, [this, body = std::move(body)] {
      body();
      --acting_;
    });
  };
  for (int64_t slot = 0; slot < plan_.workers; ++slot) act([this, slot] { Supervise(slot); });
  act([this] { Produce(); });
  act([this] { Torment(); });
  act([this] {
    Every(1'000, [this] {
      broker_.Expire();
      return Ok();
    });
  });
  act([this] {
    Every(plan_.rebalance_every_ms, [this] {
      broker_.Rebalance();
      return Ok();
    });
  });
  act([this] { Every(plan_.rewrite_every_ms, [this] { return engine_.Rewrite(AnyTable()); }); });
  act([this] { Every(plan_.expire_every_ms, [this] { return engine_.Expire(AnyTable()); }); });
  scheduler_.SleepFor(plan_.length_ms);
  over_ = true;
  Settle();
}

// Nothing fails any more: a last run has to bring everything in.
void Simulation::Settle() {
  constexpr int64_t kPatienceMs = 3'600'000;
  while (acting_ > 0) scheduler_.SleepFor(50);
  rates_ = {};
  for (const auto& worker : workers_) {
    worker->Wait(kPatienceMs);
    if (!worker->result()) return oracle_.Wrong("a process does not end: " + worker->process().name);
  }
  if (wrong()) return;
  Worker& last = NewWorker("last");
  last.Start({.until_caught_up = true});
  last.Wait(kPatienceMs);
  if (!last.result()) return oracle_.Wrong("the last run does not end");
  if (last.result()->end != pipeline::PipelineEnd::kDone)
    return oracle_.Wrong("the last run failed: " + last.result()->message);
  while (catalog_.on_the_way() > 0) scheduler_.SleepFor(1'000);
  std::vector<iceberg::LoadedTable> tables;
  for (const auto& name : Tables()) {
    auto table = catalog_.tables().LoadTable(name);
    if (table.ok()) tables.push_back(*table);
  }
  auto letters = catalog_.tables().LoadTable(kLetters);
  oracle_.AtTheEnd(tables, letters.ok() ? std::optional(*letters) : std::nullopt);
}

// How a run may end: as it was asked to, or because of what befell it. Never by a defect of ours.
void Simulation::Judge(const pipeline::PipelineResult& result, const std::string& name) {
  const bool ours = result.end == pipeline::PipelineEnd::kUserError ||
                    result.message.find("does not join") != std::string::npos ||
                    result.message.find("taken again") != std::string::npos;
  if (ours) oracle_.Wrong(fmt::format("{} ended with: {}", name, result.message));
}

void Simulation::Supervise(int64_t slot) {
  for (int run = 0; !over(); ++run) {
    Worker& worker = NewWorker(fmt::format("worker {} run {}", slot, run));
    current_[static_cast<size_t>(slot)] = &worker;
    worker.Start({});
    while (!over() && !worker.result() && !worker.process().dead) worker.Wait(500);
    if (worker.result() && !worker.process().dead) Judge(*worker.result(), worker.process().name);
    if (!over()) scheduler_.SleepFor(scheduler_.Between(0, 1'500));
  }
  Worker& worker = *current_[static_cast<size_t>(slot)];
  scheduler_.Continue(worker.process());
  scheduler_.OneIn(2) ? worker.Ask() : worker.Kill();
}

void Simulation::Produce() {
  std::vector<int64_t> next(kPartitions);
  for (int64_t i = 0; i < plan_.records && !over(); ++i) {
    if (scheduler_.OneIn(4)) scheduler_.SleepFor(scheduler_.Between(0, 4 * plan_.length_ms / plan_.records));
    const auto partition = static_cast<int32_t>(scheduler_.Between(0, kPartitions - 1));
    const int64_t offset = next[static_cast<size_t>(partition)]++;
    const record::SourcePartition at{"events", partition};
    const bool bad = plan_.bad_one_in > 0 && scheduler_.OneIn(plan_.bad_one_in);
    if (bad) oracle_.IsBad(at, offset);
    broker_.log().Append(at, bad ? "no record"
                                 : fmt::format(R"({{"kind":"{}","part":{},"offset":{}}})",
                                               scheduler_.OneIn(2) ? "a" : "b", partition, offset));
  }
}

// Kills workers, or makes them stand still while the others go on.
void Simulation::Torment() {
  if (plan_.kill_every_ms == 0) return;
  while (!over()) {
    scheduler_.SleepFor(scheduler_.Between(1, 2 * plan_.kill_every_ms));
    Worker* worker = current_[static_cast<size_t>(scheduler_.Between(0, plan_.workers - 1))];
    if (over() || worker == nullptr || worker->process().dead || worker->result()) continue;
    if (scheduler_.OneIn(3)) {
      scheduler_.Stop(worker->process());
      scheduler_.SleepFor(scheduler_.Between(1, 15'000));
      scheduler_.Continue(worker->process());
    } else {
      ++kills_;
      worker->Kill();
    }
  }
}

void Simulation::Every(int64_t ms, const std::function<Status()>& act) {
  if (ms == 0) return;
  while (!over()) {
    scheduler_.SleepFor(scheduler_.Between(1, 2 * ms));
    if (over()) return;
    Status acted = act();
    // The table is not there yet, or its files went away meanwhile: the next time.
    if (!acted.ok() && acted.error().kind() != ErrorKind::kNotFound)
      oracle_.Wrong("engine: " + acted.error().ToString());
  }
}

}  // namespace

SimOutcome Simulate(uint64_t seed, Mutation mutation) {
  const MutationScope broken(mutation);
  return Simulation(seed).Run();
}

}  // namespace firn::sim
