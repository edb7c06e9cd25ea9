#include <iterator>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/base/units.h"
#include "firn/cli/arguments.h"
#include "firn/cli/check_report.h"
#include "firn/cli/commands.h"
#include "firn/cli/config_files.h"
#include "firn/cli/counted.h"
#include "firn/cli/services.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/pipeline/config_reader.h"
#include "firn/pipeline/table_setup.h"

namespace firn::cli {

namespace {

class CheckCommand final : public Command {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override { return "Validate pipeline files and print what would run"; }

  void Declare(Arguments& arguments) override {
    files_.Declare(arguments);
    arguments.Flag("--offline", offline_, "Look at the files only: no catalog, no broker");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const std::vector<std::string> paths, ConfigFiles(files_.given()));
    FIRN_ASSIGN(const pipeline::PipelineFile file,
                pipeline::ReadPipelineFiles(paths, context.services.plugins()));
    context.out.Write(fmt::format("{}: {}, {}\n", fmt::join(paths, ", "),
                                  Counted(std::ssize(file.catalogs), "catalog"),
                                  Counted(std::ssize(file.pipelines), "pipeline")));
    int64_t problems = 0;
    for (const pipeline::PipelineSetup& setup : file.pipelines) {
      const CheckFindings findings = offline_ ? CheckFindings{} : Look(context, file, setup);
      context.out.Write("\n" + PipelineReport(setup, findings));
      for (const std::string& problem : findings.problems) {
        context.err.Write(fmt::format("firn: pipeline {}: {}\n", setup.config.id, problem));
      }
      problems += std::ssize(findings.problems);
    }
    context.out.Write(problems == 0 ? "\nno problems found\n"
                                    : fmt::format("\n{} found\n", Counted(problems, "problem")));
    return problems == 0 ? ExitCode::kDone : ExitCode::kUserError;
  }

 private:
  CheckFindings Look(Context& context, const pipeline::PipelineFile& file,
                     const pipeline::PipelineSetup& setup) {
    CheckFindings findings;
    for (const pipeline::TableConfig& rule : setup.config.tables)
      LookAtTable(context, file, setup, rule, findings);
    LookAtWarehouses(file, setup.config, findings);
    LookAtSource(setup, findings);
    return findings;
  }

  static void LookAtWarehouses(const pipeline::PipelineFile& file, const pipeline::PipelineConfig& config,
                               CheckFindings& findings) {
    std::set<std::string> keys;
    for (const pipeline::TableConfig& rule : config.tables) keys.insert(rule.name.catalog);
    if (config.on_bad_record == pipeline::BadRecordPolicy::kDeadLetter)
      keys.insert(config.dead_letters.table.catalog);
    for (const std::string& key : keys) {
      const Result<const pipeline::CatalogSetup*> setup = file.FindCatalog(key);
      if (!setup.ok() || !(*setup)->probe_warehouse) continue;  // the former is the table's problem
      Status probed = (*setup)->probe_warehouse();
      if (probed.ok()) continue;
      findings.problems.push_back(
          std::move(probed).error().WithContext(fmt::format("warehouse of catalog {}", key)).ToString());
    }
  }

  static void LookAtTable(Context& context, const pipeline::PipelineFile& file,
                          const pipeline::PipelineSetup& setup, const pipeline::TableConfig& config,
                          CheckFindings& findings) {
    const Result<std::shared_ptr<iceberg::Catalog>> catalog = Open(context, file, config.name.catalog);
    if (!catalog.ok()) {
      findings.problems.push_back(catalog.error().ToString());
      findings.tables.emplace_back(std::nullopt);
      return;
    }
    const auto namespaces = (*catalog)->ListNamespaces({});
    if (!namespaces.ok() && namespaces.error().kind() == ErrorKind::kNotFound)
      findings.catalog = "will be created";
    if (!config.name.literal()) return LookAtTables(context, file, setup, config, findings);
    const Result<iceberg::LoadedTable> table = (*catalog)->LoadTable({config.name.ns, config.name.name});
    if (table.ok()) {
      const Status columns = pipeline::CheckDeclaredColumns(config, *table->metadata);
      if (!columns.ok()) findings.problems.push_back(columns.error().ToString());
      findings.tables.emplace_back("exists");
    } else if (table.error().kind() != ErrorKind::kNotFound) {
      findings.problems.push_back(table.error().ToString());
      findings.tables.emplace_back(std::nullopt);
    } else if (!config.create) {
      findings.problems.push_back(fmt::format(
          "there is no table {} and create: is false. Make it or let Firn do so.", config.name.ToString()));
      findings.tables.emplace_back(std::nullopt);
    } else {
      findings.tables.emplace_back("will be created");
    }
  }

  /// The tables that a rule has made: those that the control table knows, and whether they are there.
  static void LookAtTables(Context& context, const pipeline::PipelineFile& file,
                           const pipeline::PipelineSetup& setup, const pipeline::TableConfig& config,
                           CheckFindings& findings) {
    const pipeline::TableName& letters = setup.config.dead_letters.table;
    const Result<iceberg::LoadedTable> control = Load(context, file, letters);
    if (!control.ok()) {
      if (control.error().kind() == ErrorKind::kNotFound) {
        findings.tables.emplace_back("no table made yet");
      } else {
        findings.problems.push_back(control.error().ToString());
        findings.tables.emplace_back(std::nullopt);
      }
      return;
    }
    const auto property = control->metadata->properties.find(commit::CompleteKey(setup.config.id));
    const Result<commit::Complete> complete = commit::DecodeComplete(
        property == control->metadata->properties.end() ? commit::EncodeComplete({}) : property->second);
    if (!complete.ok()) {
      findings.problems.push_back(complete.error().ToString());
      findings.tables.emplace_back(std::nullopt);
      return;
    }
    int64_t made = 0;
    std::vector<std::string> behind;
    for (const auto& [name, table] : complete->tables) {
      if (table.rule != config.name.ToString() || table.uuid.empty()) continue;
      ++made;
      if (complete->behind.contains(name)) behind.push_back(name);
    }
    std::string text = fmt::format("{} so far", Counted(made, "table"));
    if (!behind.empty()) text += fmt::format(", behind: {}", fmt::join(behind, ", "));
    findings.tables.emplace_back(std::move(text));
  }

  static Result<iceberg::LoadedTable> Load(Context& context, const pipeline::PipelineFile& file,
                                           const pipeline::TableName& name) {
    FIRN_ASSIGN(const std::shared_ptr<iceberg::Catalog> catalog, Open(context, file, name.catalog));
    return catalog->LoadTable({name.ns, name.name});
  }

  static Result<std::shared_ptr<iceberg::Catalog>> Open(Context& context, const pipeline::PipelineFile& file,
                                                        const std::string& key) {
    FIRN_ASSIGN(const pipeline::CatalogSetup* setup, file.FindCatalog(key));
    FIRN_ASSIGN_CTX(auto catalog, context.services.OpenExistingCatalog(*setup), "catalog " + key);
    return catalog;
  }

  static void LookAtSource(const pipeline::PipelineSetup& setup, CheckFindings& findings) {
    Result<std::string> found = DescribeSource(setup);
    if (found.ok()) {
      findings.source = std::move(found).value();
    } else {
      findings.problems.push_back(found.error().ToString());
    }
  }

  static Result<std::string> DescribeSource(const pipeline::PipelineSetup& setup) {
    FIRN_ASSIGN(const std::unique_ptr<source::Source> source, setup.MakeSource(1));
    FIRN_TRY(source->Open());
    auto partitions = source->ListPartitions();
    const auto backlog = source->backlog();
    source->Close();
    if (!partitions.ok()) return partitions.error();
    if (backlog) {
      return fmt::format("{} there, {}", Counted(backlog->files, "file"), HumanBytes(backlog->bytes));
    }
    int64_t records = 0;
    for (const auto& [partition, bounds] : *partitions)
      records += bounds.end.value_or(bounds.first) - bounds.first;
    return fmt::format("{}, up to {} records to read", Counted(std::ssize(*partitions), "partition"),
                       HumanCount(records));
  }

  FileArguments files_;
  bool offline_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeCheckCommand() { return std::make_unique<CheckCommand>(); }

}  // namespace firn::cli
