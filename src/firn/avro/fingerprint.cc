#include "firn/avro/fingerprint.h"

#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace firn::avro {

namespace {

constexpr uint64_t kEmpty = 0xC15D213AA4D7A795ULL;

constexpr std::array<uint64_t, 256> kTable = [] {
  std::array<uint64_t, 256> table{};
  for (uint64_t i = 0; i < table.size(); ++i) {
    uint64_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kEmpty : 0);
    table[i] = value;
  }
  return table;
}();

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Named types are written out where they come first, and by name from then on.
class CanonicalWriter {
 public:
  void Write(const Node& node) {
    switch (node.kind) {
      case Kind::kRecord:
      case Kind::kEnum:
      case Kind::kFixed:
        WriteNamed(node);
        break;
      case Kind::kArray:
        WriteItems("{\"type\":\"array\",\"items\":", node);
        break;
      case Kind::kMap:
        WriteItems("{\"type\":\"map\",\"values\":", node);
        break;
      case Kind::kUnion:
        WriteList(node.branches, [this](const Node* branch) { Write(*branch); });
        break;
      default:
        out_ += fmt::format("\"{}\"", ToString(node.kind));
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  void WriteItems(std::string_view head, const Node& node) {
    out_ += head;
    Write(*node.items);
    out_ += '}';
  }

  void WriteNamed(const Node& node) {
    if (!written_.insert(node.name).second) {
      out_ += Quoted(node.name);
      return;
    }
    out_ += fmt::format("{{\"name\":{},\"type\":\"{}\",", Quoted(node.name), ToString(node.kind));
    if (node.kind == Kind::kFixed) {
      out_ += fmt::format("\"size\":{}", node.size_bytes);
    } else if (node.kind == Kind::kEnum) {
      out_ += "\"symbols\":";
      WriteList(node.symbols, [this](const std::string& symbol) { out_ += Quoted(symbol); });
    } else {
      out_ += "\"fields\":";
      WriteList(node.fields, [this](const Field& field) {
        out_ += fmt::format("{{\"name\":{},\"type\":", Quoted(field.name));
        Write(*field.type);
        out_ += '}';
      });
    }
    out_ += '}';
  }

  template <typename Items, typename Each>
  void WriteList(const Items& items, Each&& each) {
    out_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      each(item);
    }
    out_ += ']';
  }

  std::string out_;
  std::set<std::string> written_;
};

}  // namespace

std::string CanonicalForm(const Schema& schema) {
  CanonicalWriter writer;
  writer.Write(schema.root());
  return writer.Take();
}

uint64_t Crc64(std::string_view bytes) {
  uint64_t crc = kEmpty;
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xFF];
  return crc;
}

uint64_t Fingerprint(const Schema& schema) { return Crc64(CanonicalForm(schema)); }

}  // namespace firn::avro
