// Avro containers, and manifests and manifest lists in them: whatever the bytes, an answer or an error.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "firn/avro/container.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/model/update.h"
#include "firn/store/memory/memory_store.h"

namespace {

using namespace firn;           // NOLINT(google-build-using-namespace)
using namespace firn::iceberg;  // NOLINT(google-build-using-namespace)

constexpr char kLocation[] = "memory://fuzz/file.avro";

TableMetadata MakeTable() {
  NewTable table;
  table.uuid = "00000000-0000-4000-8000-000000000001";
  table.location = "memory://fuzz";
  table.format_version = 3;
  std::vector<NestedField> columns;
  for (TypePtr type :
       {Type::Primitive(TypeId::kBoolean), Type::Primitive(TypeId::kInt), Type::Primitive(TypeId::kLong),
        Type::Primitive(TypeId::kFloat), Type::Primitive(TypeId::kDouble), Type::Decimal(9, 2),
        Type::Decimal(38, 10), Type::Primitive(TypeId::kDate), Type::Primitive(TypeId::kTime),
        Type::Primitive(TypeId::kTimestamp), Type::Primitive(TypeId::kTimestampTz),
        Type::Primitive(TypeId::kString), Type::Primitive(TypeId::kUuid), Type::Fixed(3),
        Type::Primitive(TypeId::kBinary)}) {
    NestedField column;
    column.id = static_cast<int32_t>(columns.size()) + 1;
    column.name = "c" + std::to_string(column.id);
    column.type = std::move(type);
    table.spec.fields.push_back(
        {column.id, 999 + column.id, "p" + std::to_string(column.id), Transform::Identity()});
    columns.push_back(std::move(column));
  }
  table.schema = std::make_shared<Schema>(0, std::move(columns));
  return NewTableMetadata(table, 0).value();
}

void ReadContainer(std::string_view bytes) {
  auto container = avro::ContainerReader::Open(bytes);
  if (!container.ok()) return;
  Ignore(container->ForEach(
      [&](avro::BinaryReader& reader) { return reader.Skip(container->schema().root()); }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const TableMetadata table = MakeTable();
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadContainer(bytes);
  store::MemoryStore store;
  if (!store.WriteAll(kLocation, bytes, store::IfExists::kFail).ok()) return 0;
  Snapshot snapshot;
  snapshot.manifest_list = kLocation;
  Ignore(ReadManifestList(store, snapshot));
  ManifestFile manifest;
  manifest.path = kLocation;
  manifest.sequence_number = 5;
  manifest.first_row_id = 100;
  Ignore(ReadManifest(store, manifest, table));
  return 0;
}
