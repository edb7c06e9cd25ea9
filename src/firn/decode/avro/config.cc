#include "firn/decode/avro/config.h"

namespace firn::decode {

const config::Schema<AvroConfig>& AvroSchemaKeys() {
  static const auto schema =
      config::Schema<AvroConfig>()
          .Field(
              "format", &AvroConfig::format, config::Text(),
              "`avro`: each value is one record. With `decode.schema_registry` in Confluent's wire format (a "
              "zero "
              "byte, the schema's id, the data), unless one of the next two keys is there; container files "
              "bring their own schema.")
          .Field("schemas", &AvroConfig::schemas, config::ListOf(config::Path(), false),
                 "Schema files (.avsc): values are in single-object encoding, which names the schema by its "
                 "fingerprint.",
                 "none")
          .Field("schema", &AvroConfig::schema, config::Path(),
                 "A schema file (.avsc): values are bare data, all of this schema.", "none")
          .Field(
              "subject", &AvroConfig::subject, config::Text(),
              "Subject of the registry whose newest schema gives the columns of a new table when the sample "
              "of records gives none.",
              "none")
          .Exclusive({"schemas", "schema", "subject"});
  return schema;
}

}  // namespace firn::decode
