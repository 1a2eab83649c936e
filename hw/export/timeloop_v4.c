// SPDX-License-Identifier: Apache-2.0
// Writes a Timeloop architecture of version 0.4: nodes from main memory inwards, each with what the array allows of a
// mapping. A word is an input element; an accumulator word holds a partial sum. Bandwidths are words per cycle and
// those of timeloop.c. Columns of the mesh take output channels; rows take input channels where weights stay in the
// mesh, and results where they do.
#include <inttypes.h>

#include "base/number.h"
#include "hw/export/export.h"
#include "hw/tech.h"

// A component's head; attributes follow.
static void write_component(FILE *out, const char *name, const char *class) {
  fprintf(out, "  - !Component\n    name: %s\n    class: %s\n    attributes:\n", name, class);
}

static void write_number(FILE *out, const char *key, uint32_t value) {
  fprintf(out, "      %s: %" PRIu32 "\n", key, value);
}

static void write_memory(FILE *out, uint32_t depth, uint32_t width, uint32_t datawidth) {
  write_number(out, "depth", depth);
  write_number(out, "width", width);
  write_number(out, "datawidth", datawidth);
}

static void write_dataspaces(FILE *out, const char *keep, const char *bypass) {
  fprintf(out, "    constraints:\n      dataspace: {keep: [%s], bypass: [%s]}\n", keep, bypass);
}

// `split`: how many of the seven dimensions lie along X.
static void write_fanout(FILE *out, const char *name, const char *mesh, uint32_t side, const char *factors, int split) {
  fprintf(out,
          "  - !Container\n"
          "    name: %s\n"
          "    spatial: {%s: %" PRIu32
          "}\n"
          "    constraints:\n"
          "      spatial:\n"
          "        factors: [%s]\n"
          "        split: %d\n",
          name, mesh, side, factors, split);
}

static void write_main_memory(const hw_array *array, FILE *out) {
  write_component(out, "DRAM", "DRAM");
  fputs("      type: \"LPDDR4\"  # for estimates of energy alone\n", out);
  write_number(out, "width", 8 * array->dma.max_burst_bytes);
  write_number(out, "datawidth", 8);
  write_number(out, "shared_bandwidth", wf_min(array->dma.bus_bits / 8, array->memory.bytes_per_cycle));
}

static void write_scratchpad(const hw_array *array, const hw_derived *d, FILE *out) {
  const uint32_t row_rate = d->dim * array->scratchpad.banks;
  write_component(out, "Scratchpad", "SRAM");
  write_memory(out, d->sp_rows, 8 * d->sp_row_bytes, 8 * d->input_bytes);
  write_number(out, "n_banks", array->scratchpad.banks);
  write_number(out, "n_rdwr_ports", array->scratchpad.single_ported ? 1 : 2);
  if (array->scratchpad.single_ported) {
    write_number(out, "shared_bandwidth", row_rate);
  } else {
    write_number(out, "read_bandwidth", row_rate);
    write_number(out, "write_bandwidth", row_rate);
  }
  write_dataspaces(out, "Inputs, Weights", "Outputs");
}

static void write_accumulator(const hw_array *array, const hw_derived *d, FILE *out) {
  write_component(out, "Accumulator", "SRAM");
  write_memory(out, d->acc_rows, 8 * d->acc_bytes, 8 * d->acc_bytes);
  write_number(out, "n_banks", array->accumulator.banks);
  write_number(out, "read_bandwidth", 1);
  write_number(out, "write_bandwidth", 1);
  write_dataspaces(out, "Outputs", "Inputs, Weights");
}

static void write_elements(const hw_array *array, const hw_derived *d, FILE *out) {
  const bool results_stay = array->mesh.dataflow == HW_DATAFLOW_OS;
  write_fanout(out, "PERows", "meshY", d->dim, results_stay ? "C=1, M=1, R=1, S=1" : "N=1, M=1, P=1, Q=1, R=1, S=1", 0);
  write_component(out, "Registers", "regfile");
  const uint32_t bits = results_stay ? 8 * d->acc_bytes : 8 * d->input_bytes;
  write_memory(out, 1, bits, bits);
  write_number(out, "read_bandwidth", 1);
  write_number(out, "write_bandwidth", 1);
  write_dataspaces(out, results_stay ? "Outputs" : "Weights", results_stay ? "Inputs, Weights" : "Inputs, Outputs");
  write_component(out, "MAC", "intmac");
  write_number(out, "multiplier_width", 8 * d->input_bytes);
  write_number(out, "adder_width", 8 * d->acc_bytes);
}

bool hw_export_timeloop_v4(const hw_array *array, FILE *out) {
  const hw_derived d = hw_derive(array);
  hw_tech tech;
  hw_tech_of(&tech, array);
  fprintf(out,
          "# Array %s, hash %016" PRIx64 ": %" PRIu32 " x %" PRIu32
          " PEs as a Timeloop architecture.\n"
          "architecture:\n"
          "  version: 0.4\n"
          "  nodes:\n"
          "  - !Container\n"
          "    name: System\n"
          "    attributes:\n"
          "      technology: \"%s\"\n"
          "      global_cycle_seconds: %.6e\n",
          array->name, hw_array_hash(array), d.dim, d.dim, tech.name, 1e-6 / array->chip.clock_mhz);
  write_main_memory(array, out);
  write_scratchpad(array, &d, out);
  write_fanout(out, "PEColumns", "meshX", d.dim, "N=1, C=1, P=1, Q=1, R=1, S=1", 7);
  write_accumulator(array, &d, out);
  write_elements(array, &d, out);
  return fflush(out) == 0 && !ferror(out);
}
