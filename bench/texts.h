// SPDX-License-Identifier: Apache-2.0
// Files of workloads/ that travel in the program; made in the build.
#ifndef BENCH_TEXTS_H
#define BENCH_TEXTS_H

extern const char bench_text_sweep[];           // sweeps/resnet50.yaml
extern const char bench_text_study[];           // studies/stack.yaml
extern const char bench_text_published[];       // published.csv
extern const char bench_text_gemmini[];         // gemmini-rtl/microbench.csv
extern const char bench_text_gemmini_random[];  // gemmini-rtl/random.csv
extern const char bench_text_gemmini_side8[];   // gemmini-rtl/side8.csv

#endif
