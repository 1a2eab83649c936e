// The files of workloads/kernels as text; the table is made in the build.
#ifndef COMPILER_LAYER_KERNEL_FILES_H
#define COMPILER_LAYER_KERNEL_FILES_H

#include <stddef.h>

typedef struct layer_kernel_file {
  const char *name;  // "gemm.py"
  const char *text;
} layer_kernel_file;

extern const layer_kernel_file layer_kernel_files[];
extern const size_t layer_kernel_file_count;

#endif
