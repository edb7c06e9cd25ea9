#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "firn/obs/metric_list.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace firn::obs {

/// Handles of one time series each: cheap to copy, thread-safe, valid as long as the Metrics they come from.
/// Look them up once and keep them; a look-up takes a lock and allocates.
class Counter {
 public:
  explicit Counter(prometheus::Counter* counter) : counter_(counter) {}
  void Add(double amount = 1);
  double value() const;

 private:
  prometheus::Counter* counter_;
};

class Gauge {
 public:
  explicit Gauge(prometheus::Gauge* gauge) : gauge_(gauge) {}
  void Set(double value);
  void Add(double amount);
  double value() const;

 private:
  prometheus::Gauge* gauge_;
};

class Histogram {
 public:
  explicit Histogram(prometheus::Histogram* histogram) : histogram_(histogram) {}
  void Observe(double value);

 private:
  prometheus::Histogram* histogram_;
};

/// Values of a metric's labels, in the order of metric_list.h.
using LabelValues = std::initializer_list<std::string_view>;

/// The metrics of one process (or of one test). Thread-safe.
class Metrics {
 public:
  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  /// A wrong kind or number of labels is a broken invariant.
  Counter counter(Metric metric, LabelValues labels = {});
  Gauge gauge(Metric metric, LabelValues labels = {});
  Histogram histogram(Metric metric, LabelValues labels = {});

  /// Ends a gauge's time series: the lag of a partition that is no longer ours. Handles to it must not be
  /// used again.
  void Remove(Metric metric, LabelValues labels);

  /// Called before each Render, to set what is cheaper to look up than to keep current. Gone with the
  /// returned object.
  using Hook = std::shared_ptr<const std::function<void()>>;
  [[nodiscard]] Hook OnRender(std::function<void()> update);

  /// Prometheus text format 0.0.4.
  std::string Render();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace firn::obs
