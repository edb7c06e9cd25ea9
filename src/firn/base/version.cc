#include "firn/base/version.h"

#include <elf.h>
#include <link.h>

#include <array>
#include <cstring>

#include "firn/build_info.h"

namespace firn {

namespace {

/// Hex text of the executable's build id, filled once before anyone needs it in a signal handler.
struct BuildIdText {
  std::array<char, 64> text{};
  size_t size = 0;
};

constexpr size_t Padded(size_t size) { return (size + 3) & ~size_t{3}; }

void ReadNotes(const char* at, size_t size, BuildIdText& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, at, sizeof(header));
    const size_t total = sizeof(header) + Padded(header.n_namesz) + Padded(header.n_descsz);
    if (total > size) return;
    const char* name = at + sizeof(header);
    if (header.n_type == NT_GNU_BUILD_ID &&
        std::string_view(name, header.n_namesz) == std::string_view("GNU\0", 4)) {
      const char* id = name + Padded(header.n_namesz);
      for (size_t i = 0; i < header.n_descsz && out.size + 2 <= out.text.size(); ++i) {
        out.text[out.size++] = kHex[static_cast<unsigned char>(id[i]) >> 4U];
        out.text[out.size++] = kHex[static_cast<unsigned char>(id[i]) & 15U];
      }
      return;
    }
    at += total;
    size -= total;
  }
}

int VisitExecutable(dl_phdr_info* info, size_t /*size*/, void* data) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // The loader gives addresses as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    ReadNotes(notes, segment.p_memsz, *static_cast<BuildIdText*>(data));
  }
  return 1;  // the executable comes first; its libraries are of no interest
}

BuildIdText ReadBuildId() {
  BuildIdText id;
  dl_iterate_phdr(VisitExecutable, &id);
  return id;
}

}  // namespace

std::string_view Version() { return build_info::kVersion; }
std::string_view GitHash() { return FIRN_GIT_HASH; }
std::string_view Compiler() { return build_info::kCompiler; }
std::string_view BuildType() { return build_info::kBuildType; }

std::string_view BuildId() {
  static const BuildIdText id = ReadBuildId();
  return id.size == 0 ? std::string_view("unknown") : std::string_view(id.text.data(), id.size);
}

}  // namespace firn
