#pragma once

namespace firn {

/// 128-bit signed integer: unscaled decimals. `__int128` is an extension, hence the marker.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

}  // namespace firn
