#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "firn/config/node.h"
#include "firn/config/problems.h"
#include "firn/pipeline/config_reader.h"
#include "firn/pipeline/pipeline_file.h"
#include "firn/pipeline/pipeline_schema.h"

namespace firn::pipeline {

/// Turns what the schemas read into what runs; everything wrong goes to the problems.
class FileBuilder {
 public:
  FileBuilder(const Plugins& plugins, const config::Node& root, config::Problems& problems)
      : plugins_(plugins), root_(root), problems_(problems) {}
  PipelineFile Build(FileFields fields);

 private:
  void AddCatalog(const std::string& key, const config::Node& node);
  void AddPipeline(const config::Node::Entry& entry, PipelineFields fields);
  void TakeTables(const config::Node& node, PipelineFields& fields, PipelineConfig& config);
  /// A rule behind one that takes everything gets no record; two rules must not own one table.
  void CheckReach(const PipelineConfig& config, size_t index, const config::Node& name);
  /// Patterns and templates parse, and the format can tell the fields that they ask for.
  void CheckRouting(const config::Node& node, const PipelineSetup& setup);
  void RequireCatalog(const TableName& table, const config::Node& node);
  void TakeDeadLetters(const config::Node& node, const PipelineFields& fields, PipelineConfig& config);
  static bool IsSole(const PipelineConfig& config);
  /// Beside the table; of several tables beside those of the first rule, with the pipeline's name.
  void TakeDefaultDeadLetters(const config::Node& node, PipelineConfig& config);
  static bool UsesDeadLetters(const PipelineConfig& config);
  /// Progress, tables and dead letters belong to one pipeline each.
  void CheckIdentity(const config::Node::Entry& entry, bool id_written, const PipelineConfig& config);
  void Claim(const std::string& what, std::string_view why, const config::Node::Entry& entry);
  bool TakeSource(const PipelineFields& fields, PipelineSetup& setup);
  bool TakeDecoder(const PipelineFields& fields, PipelineSetup& setup);
  /// `decoder` becomes one of both halves.
  bool TakeKeyDecoder(const PipelineFields& fields, const config::Node& node, DecoderSetup& decoder);
  /// Schemas of a registry say what the columns are: the table follows them, unless its columns are declared.
  static void TakeEvolution(const DecoderSetup& decoder, TableConfig& table);

  const Plugins& plugins_;
  const config::Node& root_;
  config::Problems& problems_;
  PipelineFile file_;
  std::vector<std::string> known_catalogs_;
  std::map<std::string, std::string> claims_;  ///< what -> key of the pipeline
};

}  // namespace firn::pipeline
