#include "firn/runtime/thread.h"

#include <pthread.h>

#include <array>
#include <utility>

#include "firn/base/fatal.h"

namespace firn::runtime {

void NameThisThread(std::string_view name) {
  pthread_setname_np(pthread_self(), std::string(name.substr(0, 15)).c_str());
  InstallAlternateSignalStack();
}

std::string ThisThreadName() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

std::jthread StartThread(std::string name, std::function<void(std::stop_token)> body) {
  return std::jthread([name = std::move(name), body = std::move(body)](std::stop_token stop) noexcept {
    NameThisThread(name);
    body(std::move(stop));
  });
}

}  // namespace firn::runtime
