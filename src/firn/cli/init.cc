#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/arguments.h"
#include "firn/cli/commands.h"
#include "firn/cli/pipeline_text.h"
#include "firn/cli/services.h"
#include "firn/pipeline/column_hints.h"
#include "firn/pipeline/config_reader.h"

namespace firn::cli {

namespace {

constexpr char kNoFile[] = "firn init";

/// A name that every catalog takes, made of any text.
std::string PlainName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    name += fine ? c : '_';
  }
  const size_t begin = name.find_first_not_of("_-");
  return begin == std::string::npos ? "records" : name.substr(begin);
}

/// The last folder or file of a path that is no pattern.
std::string NameOfFiles(std::string_view path) {
  std::string found;
  for (const auto& part : std::filesystem::path(path)) {
    const std::string text = part.string();
    if (text.find_first_of("*?[{") != std::string::npos) break;
    if (!text.empty() && text != "/" && text != "." && text != "..") found = text;
  }
  return PlainName(found.substr(0, found.find('.', 1)));
}

/// By the names of the files: what is in them as a rule.
std::string FormatOfFiles(std::string_view path) {
  for (const std::string_view format : {"csv", "parquet", "avro"})
    if (path.find(fmt::format(".{}", format)) != std::string_view::npos) return std::string(format);
  return "json";
}

class InitCommand final : public Command {
 public:
  std::string_view name() const override { return "init"; }
  std::string_view summary() const override {
    return "Sample a topic or files and write a pipeline file with the columns found";
  }

  void Declare(Arguments& arguments) override {
    arguments.Option("--kafka", draft_.kafka, "Broker addresses").Value("HOST:PORT");
    arguments.Option("--topic", draft_.topic, "Topic to sample").Value("T");
    arguments
        .Option("--property", draft_.properties,
                "A property of the Kafka client, for example security.protocol=SSL; ${NAME} takes an "
                "environment variable")
        .Value("NAME=VALUE");
    arguments
        .Option("--files", draft_.files, "Folder, glob or s3:// location to sample, in the place of Kafka")
        .Value("PATH");
    arguments.Option("--format", draft_.format,
                     "Format of the records (default: json; of files: by their names)");
    arguments.Option("--schema-registry", draft_.schema_registry, "Registry that holds the records' schemas")
        .Value("URL");
    arguments.Option("--table", draft_.table, "Table to fill (default: lake.raw.<topic or folder>)")
        .Value("TABLE");
    arguments.Option("--catalog-uri", draft_.catalog_uri, "SQL catalog")
        .Value("URI")
        .Default(draft_.catalog_uri);
    arguments.Option("--warehouse", draft_.warehouse, "Where the tables' files go")
        .Value("LOCATION")
        .Default(draft_.warehouse);
    arguments.Option("-o,--output", output_, "File to write (default: standard output); it must not exist")
        .Value("FILE");
  }

  InitCommand() {
    draft_.catalog_uri = "sqlite:lake/catalog.db";
    draft_.warehouse = "lake/warehouse";
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_TRY(Complete());
    FIRN_TRY(CheckOutput());
    FIRN_ASSIGN(const pipeline::PipelineFile file, Read(context, PipelineText(draft_)));
    FIRN_ASSIGN(const pipeline::SourceSample sample,
                context.services.SampleSource(file, file.pipelines.front()));
    const std::string text =
        PipelineText(draft_, sample.inferred, pipeline::HintsOf(*sample.inferred.schema, sample.rows));
    FIRN_TRY_CTX(Read(context, text), "the file made of the sample");
    FIRN_TRY(Write(context, text));
    return ExitCode::kDone;
  }

 private:
  static Error Usage(std::string message, std::string remedy) {
    return Error(ErrorKind::kInvalidArgument, std::move(message)).WithRemedy(std::move(remedy));
  }

  Status Complete() {
    if (draft_.kafka.empty() == draft_.files.empty())
      return Usage("firn init samples a topic or files",
                   "Give --kafka HOST:PORT --topic T, or --files PATH.");
    if (draft_.kafka.empty() != draft_.topic.empty())
      return Usage("--kafka and --topic belong together", "Give both.");
    for (const std::string& property : draft_.properties) {
      if (property.find('=') == std::string::npos || property.starts_with('='))
        return Usage(fmt::format("--property {}: there is no value", property.substr(0, property.find('='))),
                     "Write --property NAME=VALUE.");
    }
    if (draft_.format.empty())
      draft_.format = draft_.kafka.empty() ? FormatOfFiles(draft_.files) : DefaultFormat();
    draft_.id = draft_.kafka.empty() ? NameOfFiles(draft_.files) : PlainName(draft_.topic);
    if (draft_.table.empty()) draft_.table = "lake.raw." + draft_.id;
    return Ok();
  }

  std::string DefaultFormat() const { return draft_.schema_registry.empty() ? "json" : "avro"; }

  Status CheckOutput() const {
    struct stat seen{};
    if (output_.empty() || ::lstat(output_.c_str(), &seen) != 0) return Ok();
    return Error(ErrorKind::kAlreadyExists, fmt::format("{} is there already", output_))
        .WithRemedy("Name another file, or remove it.");
  }

  /// Relative paths of the draft are meant from where the file will be, or from here.
  Result<pipeline::PipelineFile> Read(Context& context, const std::string& text) const {
    return pipeline::ReadPipelineText(text, output_.empty() ? kNoFile : output_, context.services.plugins(),
                                      config::SystemEnvironment());
  }

  Status Write(Context& context, const std::string& text) const {
    if (output_.empty()) {
      context.out.Write(text);
      return Ok();
    }
    std::ofstream file(output_, std::ios::binary);
    file << text;
    file.close();
    if (!file)
      return Error(ErrorKind::kIo, fmt::format("{} cannot be written: {}", output_, std::strerror(errno)));
    context.out.Write(
        fmt::format("wrote {}\n  firn check {}   shows what would run\n  firn run {}     runs it\n", output_,
                    output_, output_));
    return Ok();
  }

  PipelineDraft draft_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> MakeInitCommand() { return std::make_unique<InitCommand>(); }

}  // namespace firn::cli
