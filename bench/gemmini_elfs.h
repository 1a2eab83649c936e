// SPDX-License-Identifier: Apache-2.0
// The programs of workloads/gemmini-rtl, which travel in this one; made in the build.
#ifndef BENCH_GEMMINI_ELFS_H
#define BENCH_GEMMINI_ELFS_H

#include <stddef.h>

typedef struct bench_gemmini_elf {
  const char *name;  // of the group
  const unsigned char *bytes;
  size_t size;
} bench_gemmini_elf;

extern const bench_gemmini_elf bench_gemmini_elfs[];
extern const size_t bench_gemmini_elf_count;

#endif
