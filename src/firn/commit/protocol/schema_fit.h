#pragma once

#include <string>

#include "firn/iceberg/model/schema.h"

namespace firn::commit {

/// Why rows that were made for the schema `written` may not be committed to a table whose schema has become
/// `current`; empty when they may. Files carry field ids, so a file of an older schema stays right whatever
/// was added, dropped, renamed, reordered or widened since. Not so, and its records have to be decoded again:
///  - a name that belongs to another field now (dropped and added anew, or names that changed places): the
///    values lie under the former id, where nobody finds them;
///  - a field that is required now and was not, or is new and required without an initial default: a reader
///    would fail on the rows that lack it;
///  - a type that the format's promotions do not lead to.
std::string WhyRowsDoNotFit(const iceberg::Schema& written, const iceberg::Schema& current,
                            int format_version);

}  // namespace firn::commit
