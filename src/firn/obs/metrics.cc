#include "firn/obs/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <variant>
#include <vector>

#include "firn/base/check.h"
#include "firn/base/version.h"

namespace firn::obs {

namespace {

constexpr std::array kLongBuckets = {0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0};
constexpr std::array kShortBuckets = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                      0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 30.0};

using Family = std::variant<prometheus::Family<prometheus::Counter>*, prometheus::Family<prometheus::Gauge>*,
                            prometheus::Family<prometheus::Histogram>*>;

Family MakeFamily(const MetricInfo& info, prometheus::Registry& registry) {
  const std::string name(info.name);
  const std::string help(info.help);
  switch (info.kind) {
    case MetricKind::kCounter:
      return &prometheus::BuildCounter().Name(name).Help(help).Register(registry);
    case MetricKind::kGauge:
      return &prometheus::BuildGauge().Name(name).Help(help).Register(registry);
    case MetricKind::kHistogram:
      return &prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }
  FailCheck(__FILE__, __LINE__, "kind", "unknown kind of metric");
}

prometheus::Labels MakeLabels(const MetricInfo& info, LabelValues values) {
  FIRN_CHECK(values.size() == LabelCount(info), "a metric gets a value for each of its labels");
  prometheus::Labels labels;
  size_t i = 0;
  for (const std::string_view value : values) labels.emplace(info.labels.at(i++), value);
  return labels;
}

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double OpenDescriptors() {
  std::error_code error;
  const auto entries = std::filesystem::directory_iterator("/proc/self/fd", error);
  return error ? 0 : static_cast<double>(std::distance(begin(entries), end(entries)));
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

std::span<const double> Buckets(Metric metric) {
  if (metric == Metric::kStoreRequestSeconds) return kShortBuckets;
  return kLongBuckets;
}

struct Metrics::Impl {
  prometheus::Registry registry;
  std::vector<Family> families;  ///< in the order of Metric
  std::mutex mutex;
  std::vector<std::weak_ptr<const std::function<void()>>> hooks;

  template <typename T>
  prometheus::Family<T>& family(Metric metric) {
    auto* const* found = std::get_if<prometheus::Family<T>*>(&families.at(static_cast<size_t>(metric)));
    FIRN_CHECK(found != nullptr, "a metric is used as what it is declared");
    return **found;
  }

  std::vector<Hook> LiveHooks() {
    const std::lock_guard lock(mutex);
    std::erase_if(hooks, [](const auto& hook) { return hook.expired(); });
    std::vector<Hook> live;
    for (const auto& hook : hooks) {
      if (auto kept = hook.lock()) live.push_back(std::move(kept));
    }
    return live;
  }
};

void Counter::Add(double amount) { counter_->Increment(amount); }
double Counter::value() const { return counter_->Value(); }
void Gauge::Set(double value) { gauge_->Set(value); }
void Gauge::Add(double amount) { gauge_->Increment(amount); }
double Gauge::value() const { return gauge_->Value(); }
void Histogram::Observe(double value) { histogram_->Observe(value); }

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {
  for (const MetricInfo& info : kMetricList) impl_->families.push_back(MakeFamily(info, impl_->registry));
  gauge(Metric::kBuildInfo, {Version(), GitHash(), BuildId()}).Set(1);
}

Metrics::~Metrics() = default;

Counter Metrics::counter(Metric metric, LabelValues labels) {
  return Counter(&impl_->family<prometheus::Counter>(metric).Add(MakeLabels(Info(metric), labels)));
}

Gauge Metrics::gauge(Metric metric, LabelValues labels) {
  return Gauge(&impl_->family<prometheus::Gauge>(metric).Add(MakeLabels(Info(metric), labels)));
}

Histogram Metrics::histogram(Metric metric, LabelValues labels) {
  const auto bounds = Buckets(metric);
  return Histogram(&impl_->family<prometheus::Histogram>(metric).Add(
      MakeLabels(Info(metric), labels),
      prometheus::Histogram::BucketBoundaries(bounds.begin(), bounds.end())));
}

void Metrics::Remove(Metric metric, LabelValues labels) {
  auto& family = impl_->family<prometheus::Gauge>(metric);
  family.Remove(&family.Add(MakeLabels(Info(metric), labels)));
}

Metrics::Hook Metrics::OnRender(std::function<void()> update) {
  Hook hook = std::make_shared<const std::function<void()>>(std::move(update));
  const std::lock_guard lock(impl_->mutex);
  impl_->hooks.push_back(hook);
  return hook;
}

std::string Metrics::Render() {
  for (const Hook& hook : impl_->LiveHooks()) (*hook)();
  gauge(Metric::kResidentMemory).Set(ResidentBytes());
  gauge(Metric::kOpenDescriptors).Set(OpenDescriptors());
  {
    const std::lock_guard lock(impl_->mutex);  // two renders at once would add the same difference twice
    Counter cpu = counter(Metric::kCpuSeconds);
    cpu.Add(std::max(0.0, CpuSeconds() - cpu.value()));
  }
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace firn::obs
