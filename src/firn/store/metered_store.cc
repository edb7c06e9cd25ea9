#include "firn/store/metered_store.h"

#include <utility>

#include "firn/runtime/clock.h"

namespace firn::store {

namespace {

using obs::Metric;

double SecondsSince(int64_t begin_ns) {
  constexpr double kPerNs = 1e-9;
  return static_cast<double>(runtime::SystemClock().MonotonicNs() - begin_ns) * kPerNs;
}

}  // namespace

/// The handles of one store's time series, looked up once.
struct MeteredStore::Meters {
  /// One kind of request.
  struct Kind {
    Kind(obs::Metrics& metrics, const std::string& store, std::string_view kind)
        : metrics_(metrics),
          store_(store),
          kind_(kind),
          ok_(metrics.counter(Metric::kStoreRequests, {store, kind, "ok"})),
          seconds_(metrics.histogram(Metric::kStoreRequestSeconds, {store, kind})) {}

    /// Calls, times and counts; failures by the kind of error.
    template <typename F>
    auto Measure(F&& request) -> decltype(request()) {
      const int64_t begin_ns = runtime::SystemClock().MonotonicNs();
      auto result = request();
      seconds_.Observe(SecondsSince(begin_ns));
      if (result.ok()) {
        ok_.Add();
      } else {
        metrics_.counter(Metric::kStoreRequests, {store_, kind_, ToString(result.error().kind())}).Add();
      }
      return result;
    }

   private:
    obs::Metrics& metrics_;
    std::string store_;
    std::string kind_;
    obs::Counter ok_;
    obs::Histogram seconds_;
  };

  Meters(obs::Metrics& metrics, const std::string& store)
      : read(metrics, store, "read"),
        write(metrics, store, "write"),
        head(metrics, store, "head"),
        list(metrics, store, "list"),
        remove(metrics, store, "delete"),
        bytes_read(metrics.counter(Metric::kStoreBytes, {store, "read"})),
        bytes_written(metrics.counter(Metric::kStoreBytes, {store, "written"})) {}

  Kind read;
  Kind write;
  Kind head;
  Kind list;
  Kind remove;
  obs::Counter bytes_read;
  obs::Counter bytes_written;
};

class MeteredStore::Writer final : public ObjectWriter {
 public:
  Writer(std::unique_ptr<ObjectWriter> writer, std::shared_ptr<Meters> meters)
      : writer_(std::move(writer)), meters_(std::move(meters)) {}

  Status Write(std::string_view bytes) override { return writer_->Write(bytes); }
  int64_t bytes_written() const override { return writer_->bytes_written(); }
  Status Finish() override {
    Status finished = meters_->write.Measure([this] { return writer_->Finish(); });
    if (finished.ok()) meters_->bytes_written.Add(static_cast<double>(writer_->bytes_written()));
    return finished;
  }
  void Discard() noexcept override { writer_->Discard(); }

 private:
  std::unique_ptr<ObjectWriter> writer_;
  std::shared_ptr<Meters> meters_;
};

class MeteredStore::Reader final : public RandomAccessObject {
 public:
  Reader(std::unique_ptr<RandomAccessObject> object, std::shared_ptr<Meters> meters)
      : object_(std::move(object)), meters_(std::move(meters)) {}

  int64_t size_bytes() const override { return object_->size_bytes(); }
  int64_t cheap_gap_bytes() const override { return object_->cheap_gap_bytes(); }
  Result<int64_t> ReadAt(int64_t offset, int64_t length, void* out) override {
    auto read = meters_->read.Measure([&] { return object_->ReadAt(offset, length, out); });
    if (read.ok()) meters_->bytes_read.Add(static_cast<double>(*read));
    return read;
  }

 private:
  std::unique_ptr<RandomAccessObject> object_;
  std::shared_ptr<Meters> meters_;
};

MeteredStore::MeteredStore(std::shared_ptr<Store> store, const std::string& name, obs::Metrics& metrics)
    : store_(std::move(store)), meters_(std::make_shared<Meters>(metrics, name)) {}

MeteredStore::~MeteredStore() = default;

Result<std::unique_ptr<ObjectWriter>> MeteredStore::Create(const std::string& location,
                                                           WriteCondition condition) {
  FIRN_ASSIGN(auto writer, store_->Create(location, std::move(condition)));
  return std::unique_ptr<ObjectWriter>(std::make_unique<Writer>(std::move(writer), meters_));
}

Result<std::unique_ptr<RandomAccessObject>> MeteredStore::Open(const std::string& location) {
  FIRN_ASSIGN(auto object, store_->Open(location));
  return std::unique_ptr<RandomAccessObject>(std::make_unique<Reader>(std::move(object), meters_));
}

Result<ObjectInfo> MeteredStore::Head(const std::string& location) {
  return meters_->head.Measure([&] { return store_->Head(location); });
}

Status MeteredStore::Delete(const std::string& location) {
  return meters_->remove.Measure([&] { return store_->Delete(location); });
}

std::vector<NotDeleted> MeteredStore::DeleteMany(std::span<const std::string> locations) {
  std::vector<NotDeleted> left;
  Ignore(meters_->remove.Measure([&]() -> Status {  // told by what is returned
    left = store_->DeleteMany(locations);
    return left.empty() ? Ok() : Status(left.front().why);
  }));
  return left;
}

Status MeteredStore::List(const std::string& prefix, const std::function<bool(const ObjectInfo&)>& visit) {
  return meters_->list.Measure([&] { return store_->List(prefix, visit); });
}

}  // namespace firn::store
