// Numbers below the smallest normal one count as zero in this thread while a FlushSubnormals lives.
//
// Processors work on subnormals in microcode: decoding over keys and values of 1e-39 took 60 to 80 times longer than
// over ones. What is lost is below 1.2e-38, far under any tolerance. The mode belongs to a thread, so every thread of a
// team sets it for itself (EddyRivasLab/hmmer issue 106 forgot that). Where a processor has no such mode it does
// nothing.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace kvreplay::sim {

class FlushSubnormals {
 public:
  FlushSubnormals() : before_(mode()) { set_mode(before_ | flush_bits); }
  ~FlushSubnormals() { set_mode(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
#if defined(__x86_64__)
  using Mode = unsigned int;
  static constexpr Mode flush_bits = 0x8040;  // MXCSR: results (FTZ) and operands (DAZ) become zero
  static Mode mode() { return _mm_getcsr(); }
  static void set_mode(Mode mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
  using Mode = unsigned long;
  static constexpr Mode flush_bits = Mode{1} << 24;  // FPCR.FZ: both
  static Mode mode() {
    Mode mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void set_mode(Mode mode) { asm volatile("msr fpcr, %0" ::"r"(mode)); }
#else
  using Mode = int;
  static constexpr Mode flush_bits = 0;
  static Mode mode() { return 0; }
  static void set_mode(Mode) {}
#endif

  Mode before_;
};

}  // namespace kvreplay::sim
