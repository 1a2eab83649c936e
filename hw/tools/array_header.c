// SPDX-License-Identifier: Apache-2.0
// weft_array_header NAME|FILE.yaml OUT [REVISION]: writes the C header of an array, for the build of RISC-V programs.
// REVISION replaces the array's isa.revision, as --isa does in the simulator.
// weft_array_header --parameters OUT: writes the documentation of the parameter table.
// OUT is written under another name first, so that an interrupted build leaves no half header.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "hw/array.h"

static bool set_revision(hw_array *array, const char *text, wf_diag *diag) {
  const hw_param *param = hw_param_find("isa.revision");
  uint32_t value;
  if (!hw_param_value(param, text, &value)) {
    wf_error(diag, wf_in_file(NULL), "no ISA revision \"%s\"", text);
    return false;
  }
  hw_param_set(array, param, value);
  return true;
}

static bool write_output(const char *source, const char *revision, FILE *out, wf_diag *diag) {
  if (strcmp(source, "--parameters") == 0) return hw_write_markdown(out);
  hw_array array;
  if (!hw_array_load(&array, source, diag)) return false;
  if (revision != NULL && !set_revision(&array, revision, diag)) return false;
  return hw_write_c_header(&array, out);
}

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: weft_array_header NAME|FILE.yaml|--parameters OUT [REVISION]\n");
    return 2;
  }
  wf_diag diag = wf_diag_to(stderr);
  char *partial = wf_format("%s.part", argv[2]);
  FILE *out = fopen(partial, "w");
  bool good = out != NULL && write_output(argv[1], argc == 4 ? argv[3] : NULL, out, &diag);
  if (out != NULL && fclose(out) != 0) good = false;
  good = good && rename(partial, argv[2]) == 0;
  if (!good && out != NULL) remove(partial);
  if (!good && diag.errors == 0) wf_error(&diag, wf_in_file(argv[2]), "cannot write");
  wf_free(partial);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
