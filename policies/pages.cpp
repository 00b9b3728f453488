#include "policies/pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace kvreplay::policies {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

std::size_t rounded_up(Count bytes) {
  return (static_cast<std::size_t>(bytes) + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
}

// Advice may be refused (an old kernel, huge pages switched off): the memory is then slower, not wrong.
void advise(std::byte* begin, std::size_t size, PageChoice choice) {
#ifdef MADV_HUGEPAGE
  if (choice == PageChoice::small) {
    madvise(begin, size, MADV_NOHUGEPAGE);
  } else {
    madvise(begin, size, MADV_HUGEPAGE);
  }
#endif
#ifdef MADV_POPULATE_WRITE
  if (choice == PageChoice::populate) madvise(begin, size, MADV_POPULATE_WRITE);
#endif
  (void)begin, (void)size, (void)choice;
}

}  // namespace

std::string_view name_of(PageChoice choice) {
  switch (choice) {
    case PageChoice::small:
      return "small";
    case PageChoice::huge:
      return "huge";
    case PageChoice::populate:
      return "populate";
  }
  return {};
}

std::byte* map_pages(Count bytes, PageChoice choice) {
  const std::size_t size = rounded_up(bytes), mapped_size = size + huge_page_bytes;
  void* const mapped = mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  // Only the aligned part stays mapped.
  auto* const first = static_cast<std::byte*>(mapped);
  const std::size_t skip =
      (huge_page_bytes - reinterpret_cast<std::uintptr_t>(first) % huge_page_bytes) % huge_page_bytes;
  std::byte* const begin = first + skip;
  if (skip > 0) munmap(first, skip);
  munmap(begin + size, huge_page_bytes - skip);
  advise(begin, size, choice);
  return begin;
}

void unmap_pages(std::byte* begin, Count bytes) noexcept { munmap(begin, rounded_up(bytes)); }

}  // namespace kvreplay::policies
