// SPDX-License-Identifier: Apache-2.0
// weft_array_package NAME|FILE.yaml OUT: writes the SystemVerilog package of an array, for the build of the RTL.
// OUT is written under another name first, so that an interrupted build leaves no half package.
#include <stdlib.h>

#include "base/alloc.h"
#include "hw/array.h"

static bool write_output(const char *source, FILE *out, wf_diag *diag) {
  hw_array array;
  return hw_array_load(&array, source, diag) && hw_write_sv_package(&array, out);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: weft_array_package NAME|FILE.yaml OUT\n");
    return 2;
  }
  wf_diag diag = wf_diag_to(stderr);
  char *partial = wf_format("%s.part", argv[2]);
  FILE *out = fopen(partial, "w");
  bool good = out != NULL && write_output(argv[1], out, &diag);
  if (out != NULL && fclose(out) != 0) good = false;
  good = good && rename(partial, argv[2]) == 0;
  if (!good && out != NULL) remove(partial);
  if (!good && diag.errors == 0) wf_error(&diag, wf_in_file(argv[2]), "cannot write");
  wf_free(partial);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
