// SPDX-License-Identifier: Apache-2.0
// Writes the energies of the components of the architecture (timeloop_v4.c) as an ERT, the form of Accelergy's results
// (version 0.4), so that Timeloop needs no estimates. In pJ of one access: to all words of a row at once where the
// architecture's component has a row of several, to one else.
#include <inttypes.h>
#include <string.h>

#include "hw/export/export.h"
#include "hw/tech.h"

static const char *const accesses[] = {"read", "write", "update", "leak", NULL};
static const char *const computes[] = {"compute", "leak", NULL};

// Leakage is 0: no table has it.
static void write_table(FILE *out, const char *name, uint32_t last, const char *const *actions, double pj) {
  fprintf(out, "  - name: system_top_level.%s[1..%" PRIu32 "]\n    actions:\n", name, last);
  for (; *actions != NULL; actions++)
    fprintf(out, "    - {name: %s, arguments: {}, energy: %.6g}\n", *actions, strcmp(*actions, "leak") == 0 ? 0 : pj);
}

bool hw_export_accelergy(const hw_array *array, FILE *out) {
  const hw_derived d = hw_derive(array);
  const uint32_t dim = d.dim, burst = array->dma.max_burst_bytes;
  hw_tech tech;
  hw_tech_of(&tech, array);
  const bool known = tech.has.energy_pj;
  fprintf(out, "# Array %s, hash %016" PRIx64 ": energies for its Timeloop architecture, in pJ.\n", array->name,
          hw_array_hash(array));
  if (!known) fputs("# Its technology has no energies: 0 stands for them.\n", out);
  fputs("ERT:\n  version: 0.4\n  tables:\n", out);
  write_table(out, "DRAM", 1, accesses, known ? tech.energy_pj.dram * burst : 0);
  write_table(out, "Scratchpad", 1, accesses, known ? hw_tech_scratchpad_pj(&tech, array) * dim : 0);
  write_table(out, "Accumulator", dim, accesses, known ? hw_tech_accumulator_pj(&tech, array) : 0);
  write_table(out, "Registers", dim * dim, accesses, known ? tech.energy_pj.registers : 0);
  write_table(out, "MAC", dim * dim, computes, known ? tech.energy_pj.mac : 0);
  return fflush(out) == 0 && !ferror(out);
}
