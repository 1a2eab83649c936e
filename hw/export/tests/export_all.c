// SPDX-License-Identifier: Apache-2.0
// Writes the set of every built-in array below a directory: hw_export_all DIR. Prints the names.
#include <stdlib.h>

#include "base/alloc.h"
#include "hw/export/export.h"

int main(int argc, char **argv) {
  if (argc != 2) return EXIT_FAILURE;
  wf_diag diag = wf_diag_to(stderr);
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    hw_array array;
    if (!hw_array_load(&array, hw_builtin_name(i), &diag)) return EXIT_FAILURE;
    char *directory = wf_format("%s/%s", argv[1], array.name);
    const bool good = hw_export_write(&array, directory, NULL, &diag);
    wf_free(directory);
    if (!good) return EXIT_FAILURE;
    puts(array.name);
  }
  return EXIT_SUCCESS;
}
