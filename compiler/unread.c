// SPDX-License-Identifier: Apache-2.0
// Which arrays get the same programs: see compile_array_hash in compile.h. The parameters that no program depends on
// stand in unread.def.
#include "compiler/compile.h"

hw_array compile_array(const hw_array *array) {
  hw_array read = *array, defaults;
  hw_array_default(&defaults);
#define UNREAD(section, name) read.section.name = defaults.section.name;
#include "compiler/unread.def"
#undef UNREAD
  return read;
}

uint64_t compile_array_hash(const hw_array *array) {
  const hw_array read = compile_array(array);
  return hw_array_hash(&read);
}
