#pragma once

#include <string>
#include <string_view>

namespace firn::decode {

/// What the decoder makes of a datum, held against a plain walk over the tree of its schema: both must find
/// the same data well-formed, and where both do the row must hold the same values. The first byte chooses the
/// schema and the columns, the rest is the datum. Empty when they agree, else what differs.
std::string DifferenceFromTree(std::string_view input);

}  // namespace firn::decode
