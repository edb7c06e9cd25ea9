#include "firn/cli/dead_letters/letters.h"

#include "firn/pipeline/letter_book.h"

namespace firn::cli {

Result<std::optional<iceberg::LoadedTable>> LoadLetters(Context& context, const ChosenPipeline& chosen) {
  Result<iceberg::LoadedTable> table = chosen.Load(context, chosen.config().dead_letters.table);
  if (!table.ok() && table.error().kind() == ErrorKind::kNotFound)
    return std::optional<iceberg::LoadedTable>{};
  if (!table.ok()) return std::move(table).error();
  return std::optional<iceberg::LoadedTable>(*std::move(table));
}

Status ForEachLetter(const iceberg::LoadedTable& table, bool payload,
                     const std::function<Status(const write::StoredLetter&, bool waits)>& take) {
  FIRN_ASSIGN(const auto book, pipeline::LetterBook::Read(table, std::nullopt, /*payload=*/false));
  return write::ReadLetters(table.metadata, table.store, {.payload = payload, .snapshot_id = std::nullopt},
                            [&](const write::StoredLetter& stored) {
                              return stored.is_mark() ? Ok() : take(stored, book.Waits(stored));
                            });
}

}  // namespace firn::cli
