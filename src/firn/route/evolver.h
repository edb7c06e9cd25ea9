#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "firn/iceberg/model/table_metadata.h"
#include "firn/iceberg/model/update.h"
#include "firn/record/schema_delta.h"

namespace firn::route {

struct EvolutionPolicy {
  record::Evolution evolution = record::Evolution::kNone;
  int32_t max_columns = 1000;  ///< named fields at every depth
};

/// Nothing to commit: the table has the fields already, or no longer has what the delta was about. Bind and
/// decode again.
struct Compatible {};

/// To be committed in a commit of its own, before anything is decoded under the new ids.
struct Change {
  iceberg::SchemaPtr schema;  ///< new fields at the end of their struct, ids from last-column-id on
  std::vector<iceberg::Update> updates;  ///< AddSchema, SetCurrentSchema
  std::vector<record::RefusedChange>
      refused;          ///< parts of the delta that are not in it: bind the decoder with them
  std::string summary;  ///< for logs: `adds gate (string), widens delay from int to long`
};

/// None of it is possible; records that need it are bad ones. Bind the decoder with `refused`, or it will ask
/// again.
struct Incompatible {
  std::vector<record::RefusedChange> refused;
  std::string why;  ///< for people
};

using Evolved = std::variant<Compatible, Change, Incompatible>;

/// A decoder's delta against a table's schema as it stands now. Pure: plan again on every try of the commit,
/// against what is being replaced; what another process has added meanwhile is not added twice.
///
/// Adds nullable columns at the top and in structs at any depth (in lists and map values too), and widens as
/// the format allows (int to long, float to double, decimal precision); never drops, renames or narrows.
Evolved Evolve(const record::SchemaDelta& delta, const iceberg::TableMetadata& table,
               const EvolutionPolicy& policy);

}  // namespace firn::route
