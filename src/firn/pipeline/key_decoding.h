#pragma once

#include <string>

#include "firn/config/schema.h"
#include "firn/pipeline/pipeline_file.h"

namespace firn::pipeline {

/// Keys of `decode.key` beside those of its format.
struct KeyFields {
  std::string column = "key";
  std::string prefix;
};
const config::Schema<KeyFields>& KeySchema();

/// `decode.key` with the keys of KeySchema alone, and without them: what is left for the format's plug-in.
config::Node OnlyKeyFields(const config::Node& node);
config::Node WithoutKeyFields(const config::Node& node);

/// Both halves of a record as one decoder, and their columns as one inferred schema: a name in both is the
/// value's, which a note tells.
DecoderSetup JoinKeyAndValue(const KeyFields& fields, const DecoderSetup& key, DecoderSetup value);

/// Rows get `_kafka` where the table wants it.
DecoderSetup WithKafkaColumns(DecoderSetup setup);

}  // namespace firn::pipeline
