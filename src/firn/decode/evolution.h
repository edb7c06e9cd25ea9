#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/decode/cell.h"
#include "firn/decode/decoder.h"
#include "firn/decode/inferred_type.h"

namespace firn::decode {

/// What a record needs that the schema has not.
struct Needs {
  struct Field {
    int32_t parent_id = 0;
    std::string name;
    InferredType type;
  };
  struct Widening {
    int32_t field_id = 0;
    iceberg::TypePtr type;
  };
  std::vector<Field> added;
  std::vector<Widening> widened;
  bool empty() const { return added.empty() && widened.empty(); }
  void clear() {
    added.clear();
    widened.clear();
  }
};

/// Why evolution may not add a field of this name beside `siblings`, in the struct field `parent_id` (0: at
/// the top); empty when it may.
std::string WhyNotAddable(const BoundSchema& bound, int32_t parent_id,
                          const std::vector<iceberg::NestedField>& siblings, std::string_view name);

/// Whether evolution may widen this field's type.
bool MayWiden(const BoundSchema& bound, int32_t field_id);

/// The next wider type that holds a value which did not fit (`outcome.fits_wider`).
iceberg::TypePtr WiderType(const Column& column, const CellOutcome& outcome);

/// Decimal digits of a unit below a second, as Column's binding has them; -1 for kNone.
int EpochDigits(TimeUnit unit);
/// Dates, times and timestamps: what a unit may be declared for.
bool IsTimeLike(iceberg::TypeId id);

/// A field's name as ColumnMapping::from has it.
std::string EscapePath(std::string_view name);

/// kInvalidArgument with the remedy: unknown fields are to be rescued into a column that is not there, or
/// cannot hold them.
Error NoRescuedColumn();
Status CheckRescuedColumn(const iceberg::NestedField& field);

/// Arrow's default where there is none.
void UseDefaultPool(BoundSchema* bound);

}  // namespace firn::decode
