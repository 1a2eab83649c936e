// SPDX-License-Identifier: Apache-2.0
// What tests of exports share: built-in arrays, and what a writer says of one as text.
#ifndef HW_EXPORT_TESTS_EXPORT_TEXT_H
#define HW_EXPORT_TESTS_EXPORT_TEXT_H

#include <stdlib.h>

#include "base/test.h"
#include "hw/export/export.h"

typedef bool (*text_writer)(const hw_array *array, FILE *out);

// To be freed.
static char *text_of(text_writer write, const hw_array *array) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  assert_non_null(out);
  assert_true(write(array, out));
  fclose(out);
  return text;
}

static hw_array builtin(size_t index) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, hw_builtin_name(index), &diag));
  return array;
}

#endif
