package org.apache.iceberg;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.BinaryUtil;
import org.apache.iceberg.util.UnicodeUtil;

/** Writes transforms.json, bounds.json, locations.json and metadata/java-*.metadata.json with Iceberg's own library; see README.md. */
public class GoldenVectors {
  private static final long DAY_US = 86_400_000_000L;

  public static void main(String[] args) throws Exception {
    Path out = Path.of(args[0]);
    write(out.resolve("transforms.json"), transforms());
    write(out.resolve("bounds.json"), bounds());
    write(out.resolve("locations.json"), locations());
    for (int version = 1; version <= 3; version++) {
      Files.writeString(out.resolve("metadata/java-v" + version + ".metadata.json"), metadata(version));
      Files.writeString(out.resolve("metadata/java-v" + version + "-empty.metadata.json"), emptyMetadata(version));
    }
  }

  private static void write(Path file, List<String> lines) throws Exception {
    Files.writeString(file, "[\n" + String.join(",\n", lines) + "\n]\n");
  }

  // --- transforms

  private static Map<Type, List<Object>> values() {
    Map<Type, List<Object>> values = new java.util.LinkedHashMap<>();
    values.put(Types.IntegerType.get(), List.of(0, 1, -1, 9, 10, -9, -10, -11, 34, Integer.MAX_VALUE, Integer.MIN_VALUE));
    values.put(Types.LongType.get(), List.of(0L, 1L, -1L, 9L, 10L, -10L, -11L, 34L, 1L << 33, Long.MAX_VALUE, Long.MIN_VALUE));
    for (Types.DecimalType type : List.of(Types.DecimalType.of(9, 2), Types.DecimalType.of(18, 0), Types.DecimalType.of(38, 10))) {
      List<Object> decimals = new ArrayList<>();
      for (String unscaled : List.of("0", "1", "-1", "1420", "-1420", "1065", "-1065", "127", "128", "-128", "-129", "999999999", "-999999999")) {
        decimals.add(new BigDecimal(new BigInteger(unscaled), type.scale()));
      }
      if (type.precision() == 38) {
        decimals.add(new BigDecimal(new BigInteger("99999999999999999999999999999999999999"), type.scale()));
        decimals.add(new BigDecimal(new BigInteger("-99999999999999999999999999999999999999"), type.scale()));
      }
      values.put(type, decimals);
    }
    values.put(Types.DateType.get(), List.of(0, 1, -1, -31, -32, -365, -366, 17486, 19782, -719528, -719529, 2932896, 2932897));
    values.put(Types.TimeType.get(), List.of(0L, 81068000000L, 81068123456L, 81068100000L, 81068120000L, 86399999999L, 60000000L));
    List<Object> micros = List.of(0L, 1L, -1L, -3600000000L, -3600000001L, DAY_US - 1, -DAY_US, -DAY_US - 1, 1510871468000000L, 1510871468000001L,
        1709251200000000L, -62135596800000000L, 253402300799999999L, -15L * 366 * DAY_US + 60_000_000L);
    for (Type type : List.of(Types.TimestampType.withoutZone(), Types.TimestampType.withZone())) values.put(type, micros);
    List<Object> nanos = List.of(0L, 1L, -1L, 999L, -999L, -1000L, -1001L, 1510871468000001001L, -3600000000001L, 1709251200000000000L);
    for (Type type : List.of(Types.TimestampNanoType.withoutZone(), Types.TimestampNanoType.withZone())) values.put(type, nanos);
    values.put(Types.StringType.get(), List.of("", "a", "iceberg", "a b/c=d&e", "é", "日本語テキスト", "\uD83D\uDE00\uD83D\uDE01ab", "naïve café *~-._", "100%+1"));
    values.put(Types.UUIDType.get(), List.of(UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7"), new UUID(0, 0), new UUID(-1, -1)));
    values.put(Types.BinaryType.get(), List.of(bytes(), bytes(0, 1, 2, 3), bytes(255, 255), bytes(128, 0, 255, 1, 2)));
    values.put(Types.FixedType.ofLength(4), List.of(bytes(0, 1, 2, 3), bytes(255, 0, 255, 0)));
    values.put(Types.BooleanType.get(), List.of(true, false));
    values.put(Types.FloatType.get(), List.of(1.5f, -0.0f, 3.0e10f));
    values.put(Types.DoubleType.get(), List.of(1.5, -2.25, 1.0e-7));
    return values;
  }

  private static ByteBuffer bytes(int... values) {
    byte[] array = new byte[values.length];
    for (int i = 0; i < values.length; i++) array[i] = (byte) values[i];
    return ByteBuffer.wrap(array);
  }

  @SuppressWarnings("unchecked")
  private static List<String> transforms() throws Exception {
    List<String> names = List.of("identity", "void", "bucket[1]", "bucket[16]", "bucket[1000]", "truncate[1]", "truncate[3]", "truncate[10]", "truncate[50]",
        "truncate[1000000]", "year", "month", "day", "hour");
    List<String> lines = new ArrayList<>();
    for (Map.Entry<Type, List<Object>> entry : values().entrySet()) {
      Type type = entry.getKey();
      for (String name : names) {
        Transform<Object, Object> transform = (Transform<Object, Object>) Transforms.fromString(name);
        boolean takes = transform.canTransform(type);
        if (!takes) {
          lines.add(String.format("{\"type\": %s, \"transform\": %s, \"takes\": false}", text(type.toString()), text(name)));
          continue;
        }
        for (Object value : entry.getValue()) lines.add(transformed(type, name, transform, value));
      }
    }
    return lines;
  }

  private static String transformed(Type type, String name, Transform<Object, Object> transform, Object value) throws Exception {
    Type resultType = transform.getResultType(type);
    Object result = transform.bind(type).apply(value);
    String human = transform.toHumanString(resultType, result);
    String json = value instanceof Float || value instanceof Double || value instanceof Boolean ? null : SingleValueParser.toJson(type, value);
    return String.format("{\"type\": %s, \"transform\": %s, \"takes\": true, \"value\": %s, \"json\": %s, \"result_type\": %s, \"result\": %s, \"human\": %s, \"path\": %s}",
        text(type.toString()), text(name), hex(type, value), json, text(resultType.toString()), hex(resultType, result), text(human),
        text(URLEncoder.encode(human, StandardCharsets.UTF_8)));
  }

  // --- bounds

  private static List<String> bounds() {
    List<String> lines = new ArrayList<>();
    String top = new String(Character.toChars(0x10FFFF));
    List<String> texts = List.of("", "a", "abc", "abcd", "abcdefghijklmnopqrstuvwxyz", "ab\u007Fz", "ab\u07FFz", "ab\uD7FFz", "ab\uFFFFz", "ab" + top + "z",
        top + top + top + top, "日本語テキスト", "\uD83D\uDE00\uD83D\uDE01\uD83D\uDE02\uD83D\uDE03", "éééééé", "zz" + top + top + "q", "\u0000\u0000\u0000\u0000");
    for (String value : texts) {
      for (int length : List.of(1, 2, 3, 16)) {
        String upper = UnicodeUtil.truncateStringMax(value, length);
        lines.add(bound("string", hex(value.getBytes(StandardCharsets.UTF_8)), length,
            hex(UnicodeUtil.truncateStringMin(value, length).getBytes(StandardCharsets.UTF_8)), upper == null ? "null" : hex(upper.getBytes(StandardCharsets.UTF_8))));
      }
    }
    List<ByteBuffer> binaries = List.of(bytes(), bytes(1), bytes(1, 2, 3), bytes(1, 255, 255, 4), bytes(255, 255, 255, 255), bytes(0, 0, 0, 0), bytes(127, 128, 129, 130));
    for (ByteBuffer value : binaries) {
      for (int length : List.of(1, 2, 3, 16)) {
        ByteBuffer upper = BinaryUtil.truncateBinaryMax(value, length);
        lines.add(bound("binary", hex(value), length, hex(BinaryUtil.truncateBinaryMin(value, length)), upper == null ? "null" : hex(upper)));
      }
    }
    return lines;
  }

  private static String bound(String type, String value, int length, String lower, String upper) {
    return String.format("{\"type\": \"%s\", \"value\": %s, \"length\": %d, \"lower\": %s, \"upper\": %s}", type, value, length, lower, upper);
  }

  // --- data locations

  private static List<String> locations() {
    Schema schema = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()), Types.NestedField.optional(2, "a b", Types.StringType.get()));
    PartitionSpec spec = PartitionSpec.builderFor(schema).identity("a b").build();
    PartitionData partition = new PartitionData(spec.partitionType());
    partition.set(0, "x/y z");
    List<Map<String, String>> properties = List.of(Map.of(), Map.of("write.data.path", "s3://other/place/"),
        Map.of("write.object-storage.enabled", "true"),
        Map.of("write.object-storage.enabled", "true", "write.object-storage.partitioned-paths", "false"),
        Map.of("write.object-storage.enabled", "true", "write.data.path", "s3://other/place"),
        Map.of("write.object-storage.enabled", "true", "write.data.path", "s3://other/place", "write.object-storage.partitioned-paths", "false"));
    List<String> lines = new ArrayList<>();
    for (Map<String, String> props : properties) {
      for (String location : List.of("s3://bucket/db/table", "file:///lake/warehouse/db.db/table/")) {
        org.apache.iceberg.io.LocationProvider provider = LocationProviders.locationsFor(location, props);
        for (String file : List.of("00000-0-a.parquet", "00001-5-3d0f1a2b-00001.parquet")) {
          List<String> pairs = new ArrayList<>();
          new java.util.TreeMap<>(props).forEach((key, value) -> pairs.add(text(key) + ": " + text(value)));
          lines.add(String.format("{\"location\": %s, \"properties\": {%s}, \"file\": %s, \"plain\": %s, \"partitioned\": %s}", text(location),
              String.join(", ", pairs), text(file), text(provider.newDataLocation(file)), text(provider.newDataLocation(spec, partition, file))));
        }
      }
    }
    return lines;
  }

  // --- metadata files

  private static Schema schema(int version) {
    List<Types.NestedField> fields = new ArrayList<>(List.of(
        Types.NestedField.required(1, "id", Types.LongType.get(), "the key"),
        Types.NestedField.optional(2, "ts", Types.TimestampType.withZone()),
        Types.NestedField.optional(3, "price", Types.DecimalType.of(9, 2)),
        Types.NestedField.optional(4, "raw", Types.FixedType.ofLength(4)),
        Types.NestedField.optional(5, "place", Types.StructType.of(
            Types.NestedField.required(6, "lat", Types.DoubleType.get()), Types.NestedField.optional(7, "lon", Types.DoubleType.get()))),
        Types.NestedField.optional(8, "tags", Types.ListType.ofOptional(9, Types.StringType.get())),
        Types.NestedField.optional(10, "counts", Types.MapType.ofOptional(11, 12, Types.StringType.get(), Types.IntegerType.get())),
        Types.NestedField.optional(13, "u", Types.UUIDType.get()),
        Types.NestedField.optional(14, "d", Types.DateType.get()),
        Types.NestedField.optional(15, "t", Types.TimeType.get())));
    if (version >= 3) {
      fields.add(Types.NestedField.optional(16, "ns", Types.TimestampNanoType.withZone()));
      fields.add(Types.NestedField.optional("level").withId(17).ofType(Types.IntegerType.get())
          .withInitialDefault(org.apache.iceberg.expressions.Expressions.lit(7)).withWriteDefault(org.apache.iceberg.expressions.Expressions.lit(8)).build());
      fields.add(Types.NestedField.optional(18, "v", Types.VariantType.get()));
      fields.add(Types.NestedField.optional(19, "geo", Types.GeometryType.of("EPSG:4326")));
      fields.add(Types.NestedField.optional(20, "nothing", Types.UnknownType.get()));
    }
    return new Schema(fields, java.util.Set.of(1));
  }

  private static TableMetadata base(int version) {
    Schema schema = schema(version);
    PartitionSpec spec = PartitionSpec.builderFor(schema).day("ts").bucket("id", 16).truncate("price", 50).build();
    SortOrder order = SortOrder.builderFor(schema).asc("id").desc("ts", NullOrder.NULLS_FIRST).build();
    return TableMetadata.newTableMetadata(schema, spec, order, "s3://bucket/db/table", Map.of("owner", "someone", "write.metadata.previous-versions-max", "3"), version);
  }

  private static TableMetadata withFixedIds(TableMetadata metadata) {
    return TableMetadata.buildFrom(metadata).assignUUID("9c12d441-03fe-4693-9a96-a0705ddf69c1").discardChanges().build();
  }

  private static String emptyMetadata(int version) {
    return TableMetadataParser.toJson(withFixedIds(base(version)));
  }

  private static String metadata(int version) {
    TableMetadata metadata = withFixedIds(base(version));
    long time = 1_700_000_000_000L;
    for (int i = 1; i <= 3; i++) {
      String parent = i == 1 ? "" : String.format("\"parent-snapshot-id\": %d,", 1000 + i - 1);
      String lineage = version < 3 ? "" : String.format("\"first-row-id\": %d, \"added-rows\": 10,", (i - 1) * 10);
      String sequence = version < 2 ? "" : String.format("\"sequence-number\": %d,", i);
      Snapshot snapshot = SnapshotParser.fromJson(String.format(
          "{%s %s %s \"snapshot-id\": %d, \"timestamp-ms\": %d, \"summary\": {\"operation\": \"append\", \"added-records\": \"10\"},"
              + " \"manifest-list\": \"s3://bucket/db/table/metadata/snap-%d.avro\", \"schema-id\": 0}",
          sequence, parent, lineage, 1000 + i, time + i, 1000 + i));
      metadata = TableMetadata.buildFrom(metadata).setPreviousFileLocation("s3://bucket/db/table/metadata/0000" + i + "-x.metadata.json")
          .setBranchSnapshot(snapshot, SnapshotRef.MAIN_BRANCH).discardChanges().build();
    }
    Schema wider = new Schema(new ArrayList<>(metadata.schema().columns()) {{
      add(Types.NestedField.optional(40, "added", Types.StringType.get()));
    }}, metadata.schema().identifierFieldIds());
    metadata = TableMetadata.buildFrom(metadata).setCurrentSchema(wider, 40)
        .setRef("monthly", SnapshotRef.tagBuilder(1002).maxRefAgeMs(1_000_000L).build())
        .setRef("audit", SnapshotRef.branchBuilder(1003).minSnapshotsToKeep(2).maxSnapshotAgeMs(5_000L).build())
        .setStatistics(new GenericStatisticsFile(1003, "s3://bucket/db/table/metadata/s.puffin", 100, 20, List.of()))
        .discardChanges().build();
    return TableMetadataParser.toJson(metadata);
  }

  // --- JSON text

  private static String hex(Type type, Object value) {
    return value == null ? "null" : hex(Conversions.toByteBuffer(type, value));
  }

  private static String hex(ByteBuffer buffer) {
    byte[] array = new byte[buffer.remaining()];
    buffer.duplicate().get(array);
    return hex(array);
  }

  private static String hex(byte[] array) {
    StringBuilder hex = new StringBuilder("\"");
    for (byte b : array) hex.append(String.format("%02x", b));
    return hex.append('"').toString();
  }

  private static String text(String value) {
    StringBuilder text = new StringBuilder("\"");
    for (char c : value.toCharArray()) {
      if (c == '"' || c == '\\') text.append('\\').append(c);
      else if (c < ' ' || c > '~') text.append(String.format("\\u%04x", (int) c));
      else text.append(c);
    }
    return text.append('"').toString();
  }
}
