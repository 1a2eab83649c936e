// SPDX-License-Identifier: Apache-2.0
// Writes weft.core, a core description of FuseSoC (CAPI2): the files of weft.f in the same order, headers apart, and
// targets for a lint, an elaboration and a synthesis. Paths are relative to the file's folder. The synthesis names no
// tool: which one it is, and its device, is for the command line.
#include <inttypes.h>

#include "hw/export/export.h"
#include "hw/rtl_files.h"

static const char targets[] =
    "targets:\n"
    "  default:\n"
    "    filesets: [headers, rtl]\n"
    "    toplevel: weft_accel\n"
    "  lint:\n"
    "    filesets: [headers, rtl]\n"
    "    toplevel: weft_accel\n"
    "    default_tool: verilator\n"
    "    tools:\n"
    "      verilator:\n"
    "        mode: lint-only\n"
    "  sim:\n"
    "    filesets: [headers, rtl]\n"
    "    toplevel: weft_accel\n"
    "    default_tool: icarus\n"
    "    tools:\n"
    "      icarus:\n"
    "        iverilog_options: [-g2012]\n"
    "  synth:\n"
    "    filesets: [headers, rtl]\n"
    "    toplevel: weft_accel\n";

static void write_headers(FILE *out) {
  fputs("  headers:\n    files:\n", out);
  for (size_t i = 0; i < hw_rtl_file_count; i++)
    if (hw_rtl_is_header(hw_rtl_files[i].name))
      fprintf(out, "      - rtl/%s: {is_include_file: true}\n", hw_rtl_files[i].name);
  fputs("    file_type: systemVerilogSource\n", out);
}

static void write_sources(FILE *out) {
  fputs("  rtl:\n    files:\n      - rtl/weft_array_pkg.sv\n", out);
  for (size_t i = 0; i < hw_rtl_file_count; i++)
    if (!hw_rtl_is_header(hw_rtl_files[i].name)) fprintf(out, "      - rtl/%s\n", hw_rtl_files[i].name);
  fputs("    file_type: systemVerilogSource\n", out);
}

bool hw_export_fusesoc(const hw_array *array, FILE *out) {
  const uint32_t dim = hw_derive(array).dim;
  fprintf(out, "CAPI=2:\n# Array %s, hash %016" PRIx64 ".\n", array->name, hw_array_hash(array));
  fprintf(out, "name: weft:arrays:%s:0\n", array->name);
  fprintf(out, "description: Systolic array of %" PRIu32 " x %" PRIu32 " elements with the Gemmini ISA\n", dim, dim);
  fputs("filesets:\n", out);
  write_headers(out);
  write_sources(out);
  fputs(targets, out);
  return fflush(out) == 0 && !ferror(out);
}
