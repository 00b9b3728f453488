# GCC 12 or Clang 16 are the oldest that compile C++20 ranges with libstdc++ 12; clang 14, Debian 12's default, does not.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16))
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} is too old: GCC 12 or Clang 16 is needed. "
                      "Install one (g++-12, clang-19) and name it with -DCMAKE_CXX_COMPILER=.")
endif()

# Flags every target of ours shares: kvreplay_flags, and with the instruction set kvreplay_options. They are interface
# libraries so that Eigen's alignment can not differ between translation units; only the kernels, which use no type of
# Eigen's that has one, take the flags without the set.
add_library(kvreplay_flags INTERFACE)
add_library(kvreplay_options INTERFACE)
target_link_libraries(kvreplay_options INTERFACE kvreplay_flags)

# -ffp-contract and fast maths stay at the compiler's safe defaults: NaN checks and masks depend on them.
target_compile_options(kvreplay_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
# GCC 12 warns about std::string's own operator+ (GCC bug 105329).
target_compile_options(kvreplay_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Clang reports libstdc++ 12's own use of get_temporary_buffer in std::stable_sort, and the length of generated texts,
# which every compiler we build with takes.
target_compile_options(kvreplay_flags INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations;-Wno-overlength-strings>)
if(KVREPLAY_WARNINGS_AS_ERRORS)
  target_compile_options(kvreplay_flags INTERFACE -Werror)
endif()

# Instruction set: x86-64-v3 where the building machine has it, else the compiler's baseline.
include(CheckCXXSourceRuns)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CMAKE_CROSSCOMPILING)
  set(CMAKE_REQUIRED_FLAGS "-march=x86-64-v3")
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") ? 0 : 1; }"
                        KVREPLAY_HAS_X86_64_V3)
  unset(CMAKE_REQUIRED_FLAGS)
endif()
if(KVREPLAY_HAS_X86_64_V3)
  set(kvreplay_default_arch x86-64-v3)
endif()
set(KVREPLAY_ARCH "${kvreplay_default_arch}" CACHE STRING "-march= value (x86-64-v3, native, ...); empty: baseline")
if(KVREPLAY_ARCH)
  target_compile_options(kvreplay_options INTERFACE -march=${KVREPLAY_ARCH})
endif()

if(KVREPLAY_SANITIZE)
  target_compile_options(kvreplay_flags INTERFACE -fsanitize=${KVREPLAY_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(kvreplay_flags INTERFACE -fsanitize=${KVREPLAY_SANITIZE})
  if(KVREPLAY_SANITIZE MATCHES "undefined")
    target_compile_options(kvreplay_flags INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()

# Our own threads only: Eigen must not start any inside our regions.
target_compile_definitions(kvreplay_flags INTERFACE EIGEN_DONT_PARALLELIZE)
