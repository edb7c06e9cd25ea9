#include <fstream>
#include <iterator>
#include <utility>

#include "firn/app/plugins/plugins.h"
#include "firn/decode/avro/avro_decoder.h"
#include "firn/decode/avro/avro_key_reader.h"
#include "firn/decode/avro/config.h"
#include "firn/decode/avro/container_format.h"
#include "firn/decode/avro/infer_avro.h"
#include "firn/decode/avro/writer_schemas.h"
#include "firn/decode/schema_registry/schema_cache.h"

namespace firn::app {

namespace {

using config::Node;
using config::Problems;
using Schemas = std::shared_ptr<decode::WriterSchemas>;

constexpr const char* kFilesSource = "files";

Node ChildOr(const Node& node, std::string_view key) { return node.Find(key).value_or(node); }

bool ReadText(const std::string& path, const Node& node, Problems& problems, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  if (file) text->assign(std::istreambuf_iterator<char>(file), {});
  if (file && !text->empty()) return true;
  problems.Add(node, "cannot read the schema file " + path);
  return false;
}

/// Says at `node` what is wrong with the schemas; null then.
Schemas Checked(Result<std::unique_ptr<decode::WriterSchemas>> made, const Node& node, Problems& problems) {
  if (made.ok()) return std::move(made).value();
  problems.Add(node, made.error().ToString());
  return nullptr;
}

Schemas SchemasOfFiles(const decode::AvroConfig& config, const std::string& key_column, const Node& node,
                       Problems& problems) {
  if (!config.schema.empty()) {
    const Node place = ChildOr(node, "schema");
    std::string text;
    if (!ReadText(config.schema, place, problems, &text)) return nullptr;
    return Checked(decode::MakeFixedSchema(text, key_column), place, problems);
  }
  const Node place = ChildOr(node, "schemas");
  std::vector<std::string> texts(config.schemas.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!ReadText(config.schemas[i], place, problems, &texts[i])) return nullptr;
  }
  return Checked(decode::MakeSingleObjectSchemas(texts, key_column), place, problems);
}

/// Which schemas the records' frames name; `*good` is false when that cannot be told.
Schemas ChooseSchemas(const pipeline::DecoderContext& context, const decode::AvroConfig& config,
                      const PluginDeps& deps, const Node& node, Problems& problems, bool* good) {
  *good = true;
  if (!config.schema.empty() || !config.schemas.empty()) {
    Schemas schemas = SchemasOfFiles(config, context.key_column, node, problems);
    *good = schemas != nullptr;
    return schemas;
  }
  if (context.registry) {
    auto cache = std::make_shared<decode::SchemaCache>(decode::MakeRegistryClient(*context.registry),
                                                       *deps.clock, *deps.ids);
    return decode::MakeRegistrySchemas(std::move(cache), config.subject, context.key_column);
  }
  if (!config.subject.empty())
    problems.Add(ChildOr(node, "subject"),
                 "a subject needs a registry; write decode.schema_registry: {url: ...}");
  if (context.source != kFilesSource) {
    problems.Add(
        context.decode,
        "Avro records do not bring their schema along: write `{value: {format: avro}, schema_registry: {url: "
        "...}}`, or name schema files with `schemas:` or `schema:` beside the format");
  }
  *good = config.subject.empty() && context.source == kFilesSource;
  return nullptr;
}

}  // namespace

pipeline::DecoderPlugin Avro(const PluginDeps& deps) {
  const auto parse = [deps](const pipeline::DecoderContext& context, const Node& node,
                            Problems& problems) -> std::optional<pipeline::DecoderSetup> {
    decode::AvroConfig config;
    if (!decode::AvroSchemaKeys().Read(node, problems, &config)) return std::nullopt;
    bool good = false;
    const Schemas schemas = ChooseSchemas(context, config, deps, node, problems, &good);
    if (!good) return std::nullopt;
    pipeline::DecoderSetup setup;
    setup.format = "avro";
    setup.make = [schemas](const decode::BoundSchema& bound) {
      return decode::MakeAvroDecoder(bound, schemas);
    };
    setup.infer = [schemas](const std::vector<record::RawBatch>& sample) {
      return decode::InferAvroSchema(sample, schemas);
    };
    setup.files = decode::MakeAvroContainerFormat();
    setup.make_key_reader = [schemas](const std::vector<std::string>& paths) {
      return decode::MakeAvroKeyReader(paths, schemas);
    };
    setup.evolution = decode::Evolution::kAddAndWiden;
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    decode::AvroSchemaKeys().Describe(path, out);
  };
  return {"avro", parse, describe};
}

}  // namespace firn::app
