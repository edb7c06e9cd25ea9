package org.apache.iceberg;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** Makes tables of format versions 1 to 3 with Iceberg's own library, and tells what it reads back from them; see README.md. */
public class GoldenManifests {
  private static final Schema SCHEMA =
      new Schema(
          Types.NestedField.optional(1, "flag", Types.BooleanType.get()),
          Types.NestedField.optional(2, "number", Types.IntegerType.get()),
          Types.NestedField.optional(3, "big", Types.LongType.get()),
          Types.NestedField.optional(4, "single", Types.FloatType.get()),
          Types.NestedField.optional(5, "real", Types.DoubleType.get()),
          Types.NestedField.optional(6, "price", Types.DecimalType.of(9, 2)),
          Types.NestedField.optional(7, "total", Types.DecimalType.of(38, 10)),
          Types.NestedField.optional(8, "day", Types.DateType.get()),
          Types.NestedField.optional(9, "clock", Types.TimeType.get()),
          Types.NestedField.optional(10, "at", Types.TimestampType.withoutZone()),
          Types.NestedField.optional(11, "at_utc", Types.TimestampType.withZone()),
          Types.NestedField.optional(12, "a name.with ünusual 9 signs", Types.StringType.get()),
          Types.NestedField.optional(13, "id", Types.UUIDType.get()),
          Types.NestedField.optional(14, "three", Types.FixedType.ofLength(3)),
          Types.NestedField.optional(15, "bytes", Types.BinaryType.get()));

  public static void main(String[] args) throws Exception {
    Path out = Path.of(args[0]);
    for (int version = 1; version <= 3; version++) {
      try (InMemoryCatalog catalog = new InMemoryCatalog()) {
        catalog.initialize("golden", Map.of("warehouse", "memory://golden"));
        catalog.createNamespace(Namespace.of("java"));
        Table table = make(catalog, version);
        dump(table, out.resolve("java-v" + version));
      }
    }
  }

  private static Table make(InMemoryCatalog catalog, int version) {
    PartitionSpec.Builder spec = PartitionSpec.builderFor(SCHEMA);
    for (Types.NestedField field : SCHEMA.columns()) {
      // One table is enough for fixed: Java's encoding of it is its own (a length goes before the bytes).
      if (field.fieldId() != 14 || version == 1) {
        spec.identity(field.name());
      }
    }
    spec.bucket("big", 16).day("at", "at_day").truncate("a name.with ünusual 9 signs", 3, "short").alwaysNull("number");
    Map<String, String> properties =
        Map.of("format-version", Integer.toString(version), "commit.manifest.min-count-to-merge", "3",
            "write.manifest.compression-codec", version == 2 ? "zstd" : version == 3 ? "snappy" : "gzip");
    Table table = catalog.createTable(TableIdentifier.of("java", "v" + version), SCHEMA, spec.build(), properties);
    table.newFastAppend().appendFile(file(table, 0)).appendFile(file(table, 1)).commit();
    table.newFastAppend().appendFile(file(table, -1)).commit();
    table.newDelete().deleteFile(file(table, 1)).commit();
    table.newAppend().appendFile(file(table, 2)).commit();
    table.updateSpec().removeField("number").removeField("single").commit();
    if (version >= 2) {
      table.newRowDelta().addDeletes(deletes(table, version)).addDeletes(equalityDeletes(table)).commit();
    }
    table.newFastAppend().appendFile(file(table, 3)).commit();
    return table;
  }

  private static Object value(Type type, int which) {
    switch (type.typeId()) {
      case BOOLEAN:
        return which > 0;
      case INTEGER:
        return which * 70_000;
      case DATE:
        return which * 7_000;
      case FLOAT:
        return which == 2 ? Float.NaN : which * 1.5f;
      case DOUBLE:
        return which == 2 ? -0.0 : which * 1.5;
      case DECIMAL:
        return BigDecimal.valueOf(which * 314L, ((Types.DecimalType) type).scale());
      case STRING:
        return "größe" + which;
      case UUID:
        return new UUID(0xf79c3e09677c4bbdL, which);
      case FIXED:
        return new byte[] {1, 2, (byte) which};
      case BINARY:
        return ByteBuffer.wrap(new byte[] {0, (byte) 0xff, (byte) which});
      default:
        return (which + 5) * 1_000_000_007L;
    }
  }

  private static PartitionData partition(Table table, int which) {
    PartitionData data = new PartitionData(table.spec().partitionType());
    int i = 0;
    for (PartitionField field : table.spec().fields()) {
      Object result = null;
      if (which != 0 && !field.transform().isVoid()) {
        Type source = table.schema().findType(field.sourceId());
        @SuppressWarnings("unchecked")
        org.apache.iceberg.transforms.Transform<Object, Object> transform =
            (org.apache.iceberg.transforms.Transform<Object, Object>) field.transform();
        Object value = value(source, which);
        result = transform.bind(source).apply(source.typeId() == Type.TypeID.FIXED ? ByteBuffer.wrap((byte[]) value) : value);
      }
      data.set(i++, result);
    }
    return data;
  }

  private static DataFile file(Table table, int which) {
    Metrics metrics =
        new Metrics(
            100L + which,
            Map.of(1, 10L, 2, 20L),
            Map.of(1, 100L, 2, 100L),
            Map.of(1, 0L, 2, 5L),
            Map.of(4, 1L),
            Map.of(2, Conversions.toByteBuffer(Types.IntegerType.get(), -which)),
            Map.of(2, Conversions.toByteBuffer(Types.IntegerType.get(), 1000 + which)));
    return DataFiles.builder(table.spec())
        .withPath(table.location() + "/data/" + which + ".parquet")
        .withFormat(FileFormat.PARQUET)
        .withPartition(partition(table, which))
        .withFileSizeInBytes(5000 + which)
        .withMetrics(metrics)
        .withSplitOffsets(List.of(4L, 4000L))
        .withEncryptionKeyMetadata(which == 2 ? ByteBuffer.wrap(new byte[] {7, 8}) : null)
        .build();
  }

  private static DeleteFile deletes(Table table, int version) {
    FileMetadata.Builder builder =
        FileMetadata.deleteFileBuilder(table.spec())
            .ofPositionDeletes()
            .withPartition(partition(table, 2))
            .withFileSizeInBytes(321)
            .withRecordCount(3);
    if (version < 3) {
      return builder.withPath(table.location() + "/data/deletes.parquet").withFormat(FileFormat.PARQUET).build();
    }
    return builder
        .withPath(table.location() + "/data/deletes.puffin")
        .withFormat(FileFormat.PUFFIN)
        .withReferencedDataFile(table.location() + "/data/2.parquet")
        .withContentOffset(4)
        .withContentSizeInBytes(44)
        .build();
  }

  private static DeleteFile equalityDeletes(Table table) {
    return FileMetadata.deleteFileBuilder(table.spec())
        .ofEqualityDeletes(2, 3)
        .withPath(table.location() + "/data/equality.parquet")
        .withFormat(FileFormat.PARQUET)
        .withPartition(partition(table, 2))
        .withFileSizeInBytes(123)
        .withRecordCount(2)
        .withSortOrder(SortOrder.unsorted())
        .build();
  }

  // --- what Java reads back

  private static void dump(Table table, Path folder) throws Exception {
    Files.createDirectories(folder);
    TableMetadata metadata = ((HasTableOperations) table).operations().current();
    copy(table, metadata.metadataFileLocation(), folder, "metadata.json");
    List<String> snapshots = new ArrayList<>();
    for (Snapshot snapshot : table.snapshots()) {
      copy(table, snapshot.manifestListLocation(), folder, null);
      List<String> manifests = new ArrayList<>();
      for (ManifestFile manifest : snapshot.allManifests(table.io())) {
        copy(table, manifest.path(), folder, null);
        manifests.add(manifest(table, manifest));
      }
      snapshots.add("{\"snapshot-id\":" + snapshot.snapshotId() + ",\"manifests\":[\n" + String.join(",\n", manifests) + "]}");
    }
    Files.writeString(folder.resolve("expected.json"), "[" + String.join(",\n", snapshots) + "]\n");
  }

  private static void copy(Table table, String location, Path folder, String name) throws Exception {
    try (java.io.InputStream in = table.io().newInputFile(location).newStream()) {
      Files.write(folder.resolve(name == null ? location.substring(location.lastIndexOf('/') + 1) : name), in.readAllBytes());
    }
  }

  private static String manifest(Table table, ManifestFile manifest) throws Exception {
    List<String> entries = new ArrayList<>();
    PartitionSpec spec = table.specs().get(manifest.partitionSpecId());
    if (manifest.content() == ManifestContent.DATA) {
      try (CloseableIterable<ManifestEntry<DataFile>> all = ManifestFiles.read(manifest, table.io(), table.specs()).entries()) {
        for (ManifestEntry<DataFile> entry : all) {
          entries.add(entry(entry, spec));
        }
      }
    } else {
      try (CloseableIterable<ManifestEntry<DeleteFile>> all = ManifestFiles.readDeleteManifest(manifest, table.io(), table.specs()).entries()) {
        for (ManifestEntry<DeleteFile> entry : all) {
          entries.add(entry(entry, spec));
        }
      }
    }
    List<String> summaries = new ArrayList<>();
    for (ManifestFile.PartitionFieldSummary summary : manifest.partitions()) {
      summaries.add(
          "[" + summary.containsNull() + "," + summary.containsNaN() + "," + hex(summary.lowerBound()) + "," + hex(summary.upperBound()) + "]");
    }
    return "{\"path\":" + text(manifest.path())
        + ",\"length\":" + manifest.length()
        + ",\"spec\":" + manifest.partitionSpecId()
        + ",\"content\":" + manifest.content().id()
        + ",\"sequence\":" + manifest.sequenceNumber()
        + ",\"min-sequence\":" + manifest.minSequenceNumber()
        + ",\"snapshot\":" + manifest.snapshotId()
        + ",\"files\":[" + manifest.addedFilesCount() + "," + manifest.existingFilesCount() + "," + manifest.deletedFilesCount() + "]"
        + ",\"rows\":[" + manifest.addedRowsCount() + "," + manifest.existingRowsCount() + "," + manifest.deletedRowsCount() + "]"
        + ",\"first-row-id\":" + manifest.firstRowId()
        + ",\"summaries\":[" + String.join(",", summaries) + "]"
        + ",\"entries\":[\n  " + String.join(",\n  ", entries) + "]}";
  }

  private static <F extends ContentFile<F>> String entry(ManifestEntry<F> entry, PartitionSpec spec) {
    F file = entry.file();
    List<String> values = new ArrayList<>();
    for (int i = 0; i < spec.fields().size(); i++) {
      Type type = spec.partitionType().fields().get(i).type();
      values.add(hex(Conversions.toByteBuffer(type, file.partition().get(i, Object.class))));
    }
    String more = ",\"referenced\":null,\"offset\":null,\"size-in-file\":null";
    if (file instanceof DeleteFile) {
      DeleteFile delete = (DeleteFile) file;
      more = ",\"referenced\":" + text(delete.referencedDataFile()) + ",\"offset\":" + delete.contentOffset()
          + ",\"size-in-file\":" + delete.contentSizeInBytes();
    }
    return "{\"status\":" + entry.status().id()
        + ",\"snapshot\":" + entry.snapshotId()
        + ",\"sequence\":" + entry.dataSequenceNumber()
        + ",\"file-sequence\":" + entry.fileSequenceNumber()
        + ",\"content\":" + file.content().id()
        + ",\"path\":" + text(file.location())
        + ",\"format\":" + text(file.format().name())
        + ",\"partition\":[" + String.join(",", values) + "]"
        + ",\"records\":" + file.recordCount()
        + ",\"bytes\":" + file.fileSizeInBytes()
        + ",\"column-sizes\":" + counts(file.columnSizes())
        + ",\"value-counts\":" + counts(file.valueCounts())
        + ",\"null-counts\":" + counts(file.nullValueCounts())
        + ",\"nan-counts\":" + counts(file.nanValueCounts())
        + ",\"lower\":" + bounds(file.lowerBounds())
        + ",\"upper\":" + bounds(file.upperBounds())
        + ",\"key-metadata\":" + hex(file.keyMetadata())
        + ",\"split-offsets\":" + (file.splitOffsets() == null ? "[]" : file.splitOffsets().toString())
        + ",\"equality-ids\":" + (file.equalityFieldIds() == null ? "[]" : file.equalityFieldIds().toString())
        + ",\"sort-order\":" + file.sortOrderId()
        + ",\"first-row-id\":" + file.firstRowId()
        + more + "}";
  }

  private static String counts(Map<Integer, Long> counts) {
    List<String> members = new ArrayList<>();
    if (counts != null) {
      new TreeMap<>(counts).forEach((id, count) -> members.add("\"" + id + "\":" + count));
    }
    return "{" + String.join(",", members) + "}";
  }

  private static String bounds(Map<Integer, ByteBuffer> bounds) {
    List<String> members = new ArrayList<>();
    if (bounds != null) {
      new TreeMap<>(bounds).forEach((id, bound) -> members.add("\"" + id + "\":" + hex(bound)));
    }
    return "{" + String.join(",", members) + "}";
  }

  private static String hex(ByteBuffer bytes) {
    if (bytes == null) {
      return "null";
    }
    StringBuilder out = new StringBuilder("\"");
    for (int i = bytes.position(); i < bytes.limit(); i++) {
      out.append(String.format("%02x", bytes.get(i)));
    }
    return out.append('"').toString();
  }

  private static String text(CharSequence text) {
    return text == null ? "null" : "\"" + text + "\"";
  }
}
