// SPDX-License-Identifier: Apache-2.0
// Writes a configuration of STONNE: its mesh, in which results stay, with the side of this one. Each cycle an element
// enters every row and every column (dn_bw), and all results may leave (rn_bw). It has no memories of a size.
#include <inttypes.h>

#include "hw/export/export.h"

bool hw_export_stonne(const hw_array *array, FILE *out) {
  const uint32_t dim = hw_derive(array).dim;
  fprintf(out, "# Array %s, hash %016" PRIx64 ": its side; results stay in the mesh, whatever stays here.\n",
          array->name, hw_array_hash(array));
  fprintf(out, "[MSNetwork]\ntype=\"OS_MESH\"\nms_rows=%" PRIu32 "\nms_cols=%" PRIu32 "\n", dim, dim);
  fputs("[ReduceNetwork]\ntype=\"TEMPORALRN\"\naccumulation_buffer_enabled=1\n", out);
  fprintf(out, "[SDMemory]\ndn_bw=%" PRIu32 "\nrn_bw=%" PRIu32 "\ncontroller_type=\"TPU_OS_DENSE\"\n", 2 * dim,
          dim * dim);
  return fflush(out) == 0 && !ferror(out);
}
