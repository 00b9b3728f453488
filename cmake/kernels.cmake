# The fast kernels, compiled once per instruction set; the program picks one when it starts. Where there is only one set
# to pick from, it is the one everything else is compiled for.
function(kvreplay_kernels name lanes)
  add_library(kvreplay_kernels_${name} OBJECT ${PROJECT_SOURCE_DIR}/sim/kernels/instruction_set.cpp)
  target_include_directories(kvreplay_kernels_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(kvreplay_kernels_${name} PRIVATE kvreplay_flags Eigen3::Eigen)
  target_compile_definitions(kvreplay_kernels_${name} PRIVATE KVREPLAY_ISA=${name} KVREPLAY_LANES=${lanes})
  # Packets are vector types, whose attributes templates drop; GCC 12 warns about its own AVX-512 intrinsics (bug 105593).
  target_compile_options(kvreplay_kernels_${name} PRIVATE -Wno-ignored-attributes
    $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized> ${ARGN})
  target_sources(kvreplay_sim PRIVATE $<TARGET_OBJECTS:kvreplay_kernels_${name}>)
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Unoptimised, functions of Eigen's stay out of line and one instruction set's could be linked in place of another's.
  kvreplay_kernels(avx2 8 -march=x86-64-v3 -O3)
  kvreplay_kernels(avx512 16 -march=x86-64-v4 -O3)
  target_compile_definitions(kvreplay_sim PRIVATE KVREPLAY_X86_64_KERNELS)
else()
  kvreplay_kernels(native 0 $<$<BOOL:${KVREPLAY_ARCH}>:-march=${KVREPLAY_ARCH}>)
endif()
