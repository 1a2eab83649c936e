// SPDX-License-Identifier: Apache-2.0
// Writes a Timeloop architecture (version 0.3): DRAM, scratchpad, one accumulator slice per column, one weight register
// per PE. A word is an input element; an accumulator word holds a partial sum. Bandwidths are words per cycle: the bus
// and DRAM as described, one row per bank and cycle for the local memories (a read and a write with two ports).
#include <inttypes.h>

#include "hw/export/export.h"
#include "hw/tech.h"

static void write_dram(const hw_array *array, FILE *out) {
  const uint32_t bus_bytes = array->dma.bus_bits / 8;
  const uint32_t bandwidth = bus_bytes < array->memory.bytes_per_cycle ? bus_bytes : array->memory.bytes_per_cycle;
  fprintf(out,
          "      local:\n"
          "        - name: DRAM\n"
          "          class: DRAM\n"
          "          attributes:\n"
          "            instances: 1\n"
          "            word-bits: 8\n"
          "            block-size: %" PRIu32
          "  # longest request\n"
          "            shared_bandwidth: %" PRIu32 "  # the narrower of bus and memory\n",
          array->dma.max_burst_bytes, bandwidth);
}

static void write_scratchpad(const hw_array *array, const hw_derived *d, FILE *out) {
  const uint32_t row_rate = d->dim * array->scratchpad.banks;
  fprintf(out,
          "            - name: Scratchpad\n"
          "              class: SRAM\n"
          "              attributes:\n"
          "                instances: 1\n"
          "                entries: %" PRIu32
          "  # elements\n"
          "                depth: %" PRIu32
          "\n"
          "                width: %" PRIu32
          "\n"
          "                word-bits: 8\n"
          "                block-size: %" PRIu32
          "\n"
          "                n_banks: %" PRIu32
          "\n"
          "                n_rdwr_ports: %d\n",
          d->sp_rows * d->dim, d->sp_rows, d->sp_row_bytes * 8, d->dim, array->scratchpad.banks,
          array->scratchpad.single_ported ? 1 : 2);
  if (array->scratchpad.single_ported) {
    fprintf(out, "                shared_bandwidth: %" PRIu32 "\n", row_rate);
  } else {
    fprintf(out, "                read_bandwidth: %" PRIu32 "\n                write_bandwidth: %" PRIu32 "\n",
            row_rate, row_rate);
  }
}

static void write_columns(const hw_array *array, const hw_derived *d, FILE *out) {
  fprintf(out,
          "          subtree:\n"
          "            - name: PEColumns[0..%" PRIu32
          "]\n"
          "              local:\n"
          "                - name: Accumulator\n"
          "                  class: SRAM\n"
          "                  attributes:\n"
          "                    instances: %" PRIu32
          "\n"
          "                    meshX: %" PRIu32
          "\n"
          "                    entries: %" PRIu32
          "  # partial sums of a column\n"
          "                    depth: %" PRIu32
          "\n"
          "                    width: %" PRIu32
          "\n"
          "                    word-bits: %" PRIu32
          "\n"
          "                    block-size: 1\n"
          "                    n_banks: %" PRIu32
          "\n"
          "                    read_bandwidth: 1\n"
          "                    write_bandwidth: 1\n",
          d->dim - 1, d->dim, d->dim, d->acc_rows, d->acc_rows, d->acc_bytes * 8, d->acc_bytes * 8,
          array->accumulator.banks);
}

static void write_pes(const hw_derived *d, FILE *out) {
  const uint32_t pes = d->dim * d->dim;
  fprintf(out,
          "              subtree:\n"
          "                - name: PERows[0..%" PRIu32
          "]\n"
          "                  local:\n"
          "                    - name: Registers\n"
          "                      class: regfile\n"
          "                      attributes:\n"
          "                        instances: %" PRIu32
          "\n"
          "                        meshX: %" PRIu32
          "\n"
          "                        entries: 1  # the active weight; the other register is its double buffer\n"
          "                        depth: 1\n"
          "                        width: 8\n"
          "                        word-bits: 8\n"
          "                        block-size: 1\n"
          "                        read_bandwidth: 1\n"
          "                        write_bandwidth: 1\n"
          "                    - name: MAC\n"
          "                      class: intmac\n"
          "                      attributes:\n"
          "                        instances: %" PRIu32
          "\n"
          "                        meshX: %" PRIu32
          "\n"
          "                        datawidth: 8\n"
          "                        word-bits: 8\n",
          d->dim - 1, pes, d->dim, pes, d->dim);
}

bool hw_export_timeloop(const hw_array *array, FILE *out) {
  const hw_derived d = hw_derive(array);
  hw_tech tech;
  hw_tech_of(&tech, array);
  fprintf(out,
          "# Array %s, hash %016" PRIx64 ": %" PRIu32 " x %" PRIu32
          " PEs as a Timeloop architecture.\n"
          "architecture:\n"
          "  version: 0.3\n"
          "  subtree:\n"
          "    - name: System\n",
          array->name, hw_array_hash(array), d.dim, d.dim);
  write_dram(array, out);
  fprintf(out,
          "      subtree:\n"
          "        - name: Accelerator\n"
          "          attributes:\n"
          "            technology: %s\n"
          "          local:\n",
          tech.name);
  write_scratchpad(array, &d, out);
  write_columns(array, &d, out);
  write_pes(&d, out);
  return fflush(out) == 0 && !ferror(out);
}
