#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace firn::runtime {

/// Names the calling thread for top, gdb and fatal reports (cut to 15 bytes) and gives it an alternate signal
/// stack.
void NameThisThread(std::string_view name);
std::string ThisThreadName();

/// A named thread that is asked to stop and joined by its owner's destructor. `body` must not throw.
std::jthread StartThread(std::string name, std::function<void(std::stop_token)> body);

}  // namespace firn::runtime
