#pragma once

#include <string>
#include <string_view>

namespace firn::decode {

/// What tests and fuzzing hold the decoder against: simdjson's DOM parser.
enum class DomVerdict { kRejected, kObject, kOther };

/// Whether DOM takes the text, with every number that RFC 8259 allows replaced by 0 of the same length first:
/// DOM refuses numbers beyond 64 bits and the range of double, the decoder takes their text.
DomVerdict AskDom(std::string_view text);

/// Empty when the decoder's strictness matches DOM on this text: it calls a record malformed exactly when DOM
/// rejects it, and leaves nothing behind in either case. Else what differs, for people.
std::string DifferenceFromDom(std::string_view text);

}  // namespace firn::decode
