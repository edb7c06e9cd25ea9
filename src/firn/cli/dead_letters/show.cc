#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"
#include "firn/base/time.h"
#include "firn/cli/arguments.h"
#include "firn/cli/dead_letters/dead_letter_commands.h"
#include "firn/cli/dead_letters/letters.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

constexpr size_t kShownBytes = 2000;

nlohmann::json BytesJson(const std::optional<std::string>& bytes) {
  return bytes ? nlohmann::json(*bytes) : nlohmann::json();
}

std::string PlaceText(const record::DeadLetter& letter) {
  if (!letter.file.empty()) return fmt::format("{}, line {}", letter.file, letter.line);
  return fmt::format("{}[{}] offset {}", letter.partition.topic, letter.partition.partition, letter.offset);
}

void Print(const write::StoredLetter& stored, bool waits, Output& out) {
  const record::DeadLetter& letter = stored.letter;
  out.Write(fmt::format("{}, {}, for {}{}\n", PlaceText(letter), FormatInstantMs(stored.arrival_ms),
                        letter.target_table.empty() ? "no table" : letter.target_table,
                        waits ? "" : ", replayed"));
  out.Write(fmt::format("  {} {}: {}\n", letter.stage, letter.reason, Printable(letter.message)));
  if (letter.key) out.Write(fmt::format("  key   {}\n", Shortened(Printable(*letter.key), kShownBytes)));
  out.Write(fmt::format("  value {}\n", letter.value ? Shortened(Printable(*letter.value), kShownBytes)
                                                     : std::string("(none)")));
}

/// Bytes that are no text are replaced in the line: the table holds them.
void PrintAsJson(const write::StoredLetter& stored, bool waits, Output& out) {
  const record::DeadLetter& letter = stored.letter;
  const nlohmann::json json = {{"topic", letter.partition.topic},
                               {"partition", letter.partition.partition},
                               {"offset", letter.offset},
                               {"file", letter.file.empty() ? nlohmann::json() : nlohmann::json(letter.file)},
                               {"line", letter.file.empty() ? nlohmann::json() : nlohmann::json(letter.line)},
                               {"arrival", FormatInstantMs(stored.arrival_ms)},
                               {"table", letter.target_table},
                               {"stage", letter.stage},
                               {"reason", letter.reason},
                               {"message", letter.message},
                               {"key", BytesJson(letter.key)},
                               {"value", BytesJson(letter.value)},
                               {"waits", waits}};
  out.Write(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

class DeadLettersShow final : public Command {
 public:
  std::string_view name() const override { return "show"; }
  std::string_view summary() const override {
    return "Letters of a pipeline, with what was wrong and their bytes";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("--reason", reason_, "Only with this reason code").Value("CODE");
    arguments.Option("--topic", topic_, "Only of this topic").Value("TOPIC");
    arguments.Option("--table", table_, "Only for this table").Value("TABLE");
    arguments.Option("--limit", limit_, "At most this many (default: 20)").Value("N");
    arguments.Flag("--all", all_, "Those that were replayed, too");
    arguments.Flag("--json", json_, "One JSON object a line");
  }

  Result<ExitCode> Run(Context& context) override {
    const int64_t limit = limit_.value_or(kDefaultLimit);
    if (limit <= 0) return Error(ErrorKind::kInvalidArgument, "--limit must be positive");
    FIRN_ASSIGN(const ChosenPipeline chosen, access_.Choose(context));
    FIRN_ASSIGN(const auto table, LoadLetters(context, chosen));
    if (!table) return ExitCode::kDone;
    int64_t shown = 0;
    int64_t more = 0;
    FIRN_TRY(ForEachLetter(*table, /*payload=*/true, [&](const write::StoredLetter& stored, bool waits) {
      if (!Matches(stored.letter) || !(waits || all_)) return Ok();
      if (shown == limit) {
        ++more;
        return Ok();
      }
      ++shown;
      json_ ? PrintAsJson(stored, waits, context.out) : Print(stored, waits, context.out);
      return Ok();
    }));
    if (more > 0 && !json_) context.out.Write(fmt::format("and {} more: --limit shows them\n", more));
    return ExitCode::kDone;
  }

 private:
  static constexpr int64_t kDefaultLimit = 20;

  bool Matches(const record::DeadLetter& letter) const {
    return (reason_.empty() || letter.reason == reason_) &&
           (topic_.empty() || letter.partition.topic == topic_) &&
           (table_.empty() || letter.target_table == table_);
  }

  PipelineAccess access_;
  std::string reason_;
  std::string topic_;
  std::string table_;
  std::optional<int64_t> limit_;
  bool all_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDeadLettersShowCommand() { return std::make_unique<DeadLettersShow>(); }

}  // namespace firn::cli
