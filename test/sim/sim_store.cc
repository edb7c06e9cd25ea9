#include "sim/sim_store.h"

#include <utility>

namespace firn::sim {

namespace {

class SimWriter final : public store::ObjectWriter {
 public:
  SimWriter(std::unique_ptr<store::ObjectWriter> inner, Network& network)
      : inner_(std::move(inner)), network_(network) {}
  Status Write(std::string_view bytes) override { return inner_->Write(bytes); }
  int64_t bytes_written() const override { return inner_->bytes_written(); }
  Status Finish() override {
    if (Status sent = network_.Pass(network_.rates().store); !sent.ok()) {
      inner_->Discard();
      return sent;
    }
    FIRN_TRY(inner_->Finish());
    return network_.Pass(network_.rates().store);
  }
  void Discard() noexcept override { inner_->Discard(); }

 private:
  std::unique_ptr<store::ObjectWriter> inner_;
  Network& network_;
};

}  // namespace

Result<std::unique_ptr<store::ObjectWriter>> SimStore::Create(const std::string& location,
                                                              store::WriteCondition condition) {
  FIRN_TRY(Request());
  FIRN_ASSIGN(auto writer, disk_->Create(location, std::move(condition)));
  return std::unique_ptr<store::ObjectWriter>(std::make_unique<SimWriter>(std::move(writer), network_));
}

Result<std::unique_ptr<store::RandomAccessObject>> SimStore::Open(const std::string& location) {
  FIRN_TRY(Request());
  return disk_->Open(location);
}

Result<store::ObjectInfo> SimStore::Head(const std::string& location) {
  FIRN_TRY(Request());
  return disk_->Head(location);
}

Status SimStore::Delete(const std::string& location) {
  FIRN_TRY(Request());
  return disk_->Delete(location);
}

Status SimStore::List(const std::string& prefix, const std::function<bool(const store::ObjectInfo&)>& visit) {
  FIRN_TRY(Request());
  return disk_->List(prefix, visit);
}

}  // namespace firn::sim
