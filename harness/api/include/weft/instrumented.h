/* Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Included before every source under test, in C or C++, by weft_instrument() and by weft-c++: what
 * compilers emit inline, where nothing can interpose.
 *
 * rdtsc and rdtscp: tasks read virtual time instead, one tick a nanosecond. The names are those on
 * which each compiler's <x86intrin.h> builds __rdtsc(), _rdtsc() and __rdtscp().
 *
 * memcpy, memmove and memset: clang reports what they access, g++ calls libc, and so is told to
 * call us. */
#ifndef WEFT_INSTRUMENTED_H
#define WEFT_INSTRUMENTED_H

#if defined(__clang__) && !defined(__ASSEMBLER__)

#ifdef __cplusplus
extern "C" {
#endif
__extension__ unsigned long long weft_rdtsc(void);
__extension__ unsigned long long weft_rdtscp(unsigned*);
#ifdef __cplusplus
}
#endif
#define __rdtsc weft_rdtsc
#define __builtin_ia32_rdtsc weft_rdtsc
#define __builtin_ia32_rdtscp weft_rdtscp
#define __builtin_readcyclecounter weft_rdtsc

#elif !defined(__ASSEMBLER__)

/* Macros alone: g++ uses no precompiled header after a declaration. It expands these in inline
 * functions of its <ia32intrin.h>, and there a statement may stand. */
#define __builtin_ia32_rdtsc()                                                      \
  (__extension__({                                                                  \
    __extension__ extern unsigned long long weft_rdtsc(void) __asm__("weft_rdtsc"); \
    weft_rdtsc();                                                                   \
  }))
#define __builtin_ia32_rdtscp(processor)                                                   \
  (__extension__({                                                                         \
    __extension__ extern unsigned long long weft_rdtscp(unsigned*) __asm__("weft_rdtscp"); \
    weft_rdtscp(processor);                                                                \
  }))
#pragma redefine_extname memcpy __tsan_memcpy
#pragma redefine_extname memmove __tsan_memmove
#pragma redefine_extname memset __tsan_memset

#endif

#endif
