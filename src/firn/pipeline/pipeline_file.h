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
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/config.h"
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
  std::function<Result<std::shared_ptr<iceberg::Catalog>>()> open;
};

/// The `source:` of a pipeline, checked.
struct SourceSetup {
  std::string type;     ///< plug-in
  std::string summary;  ///< one line for `firn check`, without secrets
  OnDataLoss on_data_loss = OnDataLoss::kFail;
  /// A new, unopened source.
  std::function<Result<std::unique_ptr<source::Source>>(int lanes)> make;
};

/// The `decode:` of a pipeline, checked.
struct DecoderSetup {
  std::string format;  ///< plug-in
  std::function<Result<std::unique_ptr<decode::Decoder>>(const decode::BoundSchema&)> make;
  std::function<Result<decode::InferredSchema>(const std::vector<record::RawBatch>&)> infer;
  std::optional<decode::Evolution> evolution = {};  ///< the default where columns are not declared
};

struct PipelineSetup {
  PipelineConfig config;
  SourceSetup source;
  DecoderSetup decoder;
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
