#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/decode/decoder.h"
#include "firn/decode/inferred_schema.h"
#include "firn/decode/key_reader.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/config.h"
#include "firn/record/file_format.h"
#include "firn/record/raw_batch.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// One entry of `catalogs:`, checked; opened only when something asks for it.
struct CatalogSetup {
  std::string key;   ///< what table names begin with
  std::string type;  ///< plug-in
  std::string name;  ///< the `catalog_name` in a SQL catalog
  std::string uri;   ///< without secrets: shown to people
  std::string warehouse;
  /// Makes what is missing of the catalog.
  std::function<Result<std::shared_ptr<iceberg::Catalog>>()> open;
  /// Makes nothing: a catalog that is not there yet answers kNotFound. Empty: `open` makes nothing either.
  std::function<Result<std::shared_ptr<iceberg::Catalog>>()> open_existing;
  /// Whether tables can get their files in the warehouse now: writes an object and deletes it. Empty where
  /// the catalog's own service decides where files lie.
  std::function<Status()> probe_warehouse;
};

/// What a source is made with.
struct SourceParts {
  int lanes = 1;
  std::shared_ptr<record::FileFormat> files;  ///< of the decoder; null: the format cannot come from files
};

/// The `source:` of a pipeline, checked.
struct SourceSetup {
  std::string type;     ///< plug-in
  std::string summary;  ///< one line for `firn check`, without secrets
  OnDataLoss on_data_loss = OnDataLoss::kFail;
  /// A new, unopened source.
  std::function<Result<std::unique_ptr<source::Source>>(const SourceParts&)> make;
  bool of_files = false;  ///< works only with a format that comes from files
  bool bounded = false;   ///< ends by itself when everything there was at the start is committed
};

/// The `decode:` of a pipeline, checked.
struct DecoderSetup {
  std::string format;  ///< plug-in
  std::function<Result<std::unique_ptr<decode::Decoder>>(const decode::BoundSchema&)> make;
  std::function<Result<decode::InferredSchema>(const std::vector<record::RawBatch>&)> infer;
  std::optional<decode::Evolution> evolution = {};  ///< the default where columns are not declared
  /// How files of the format are split into records; null: the format cannot come from files.
  std::shared_ptr<record::FileFormat> files = nullptr;
  /// Reads named fields without decoding, for rules that match by field; empty: the format cannot.
  decode::KeyReaderFactory make_key_reader = {};
};

struct PipelineSetup {
  PipelineConfig config;
  SourceSetup source;
  DecoderSetup decoder;
  /// A new, unopened source for this many lanes.
  Result<std::unique_ptr<source::Source>> MakeSource(int lanes) const {
    return source.make({lanes, decoder.files});
  }
};

/// The pipeline files of one call, merged and checked.
struct PipelineFile {
  std::vector<std::string> paths;
  std::map<std::string, CatalogSetup> catalogs;  ///< by key
  std::vector<PipelineSetup> pipelines;          ///< in the order of the files
  ResourceConfig resources;
  std::optional<std::string> listen;  ///< host:port of metrics, health and status

  /// The catalog a table name begins with; kNotFound names the nearest one.
  Result<const CatalogSetup*> FindCatalog(const std::string& key) const;
};

}  // namespace firn::pipeline
