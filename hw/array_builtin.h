// SPDX-License-Identifier: Apache-2.0
// The built-in descriptions as text; the table is made in the build from hw/configs.
#ifndef HW_ARRAY_BUILTIN_H
#define HW_ARRAY_BUILTIN_H

#include <stddef.h>

typedef struct hw_builtin {
  const char *name;
  const char *yaml;
} hw_builtin;

extern const hw_builtin hw_builtins[];
extern const size_t hw_builtin_count;

#endif
