// SPDX-License-Identifier: Apache-2.0
// Writes an architecture of AccelForge: memories from main memory inwards, the mesh as a fan-out, multipliers. Sizes
// are bits, energies joules per bit, throughputs bits per second. Tensors have 8 bits, so the accumulator is as large
// and as fast as 8 bits for each of its sums make it: it holds as many of them, and an access to one takes its energy.
// Energies come from the array's technology table; without one they are 0, and the file says so.
#include <inttypes.h>

#include "base/number.h"
#include "hw/export/export.h"
#include "hw/tech.h"

enum { VALUE_BITS = 8 };

typedef struct forge {
  FILE *out;
  double hz;
} forge;

static void write_action(const forge *f, const char *name, double pj, double values) {
  fprintf(f->out, "    - {name: %s, energy: %.6e, throughput: %.6e, latency: 0}\n", name, pj * 1e-12 / VALUE_BITS,
          values * VALUE_BITS * f->hz);
}

// `values`: of either kind in a cycle; 0: any number.
static void write_actions(const forge *f, double pj, double values) {
  static const char *const names[] = {"read", "write"};
  fputs("    actions:\n", f->out);
  for (unsigned n = 0; n < 2; n++) {
    if (values != 0)
      write_action(f, names[n], pj, values);
    else
      fprintf(f->out, "    - {name: %s, energy: %.6e, throughput: inf, latency: 0}\n", names[n],
              pj * 1e-12 / VALUE_BITS);
  }
}

static void write_memory(const forge *f, const char *name, uint64_t values, const char *tensors, bool two_ports) {
  fprintf(f->out, "  - !Memory\n    name: %s\n    size: ", name);
  if (values != 0)
    fprintf(f->out, "%" PRIu64 "\n", values * VALUE_BITS);
  else
    fputs("inf\n", f->out);
  if (two_ports) fputs("    separate_read_write_ports: True\n", f->out);
  fprintf(f->out, "    leak_power: 0\n    area: 0\n    tensors: {%s}\n", tensors);
}

// The table has the energy of an input element in main memory and scratchpad, and of a sum in the accumulator.
static void write_memories(const hw_array *array, const hw_tech *tech, const forge *f) {
  const hw_derived d = hw_derive(array);
  const bool known = tech->has.energy_pj;
  write_memory(f, "MainMemory", 0, "keep: ~Intermediates, may_keep: All", false);
  write_actions(f, known ? tech->energy_pj.dram : 0, wf_min(array->dma.bus_bits / 8, array->memory.bytes_per_cycle));
  write_memory(f, "Scratchpad", (uint64_t)d.sp_rows * d.dim, "keep: input | weight", !array->scratchpad.single_ported);
  write_actions(f, known ? hw_tech_scratchpad_pj(tech, array) : 0, (double)d.dim * array->scratchpad.banks);
  write_memory(f, "Accumulator", (uint64_t)d.acc_rows * d.dim, "keep: output", true);
  write_actions(f, known ? hw_tech_accumulator_pj(tech, array) : 0, d.dim);
}

static void write_mesh(const hw_array *array, const hw_tech *tech, const forge *f) {
  const uint32_t dim = hw_derive(array).dim;
  const char *stays = array->mesh.dataflow == HW_DATAFLOW_OS ? "output" : "weight";
  const char *down = array->mesh.dataflow == HW_DATAFLOW_OS ? "weight" : "output";
  const double register_pj = tech->has.energy_pj ? tech->energy_pj.registers : 0;
  const double mac_pj = tech->has.energy_pj ? tech->energy_pj.mac : 0;
  fprintf(f->out,
          "  - !Container\n"
          "    name: Mesh\n"
          "    spatial:\n"
          "    - {name: columns, fanout: %" PRIu32
          ", may_reuse: input, reuse: input}\n"
          "    - {name: rows, fanout: %" PRIu32 ", may_reuse: %s, reuse: %s}\n",
          dim, dim, down, down);
  fprintf(f->out,
          "  - !Memory\n    name: Register\n    size: %s.bits_per_value if %s else 0\n    leak_power: 0\n    area: 0\n"
          "    tensors: {keep: %s}\n",
          stays, stays, stays);
  write_actions(f, register_pj, 0);
  fprintf(f->out,
          "  - !Compute\n    name: MAC\n    leak_power: 0\n    area: 0\n    actions:\n"
          "    - {name: compute, energy: %.6e, throughput: %.6e, latency: 0}\n",
          mac_pj * 1e-12, f->hz);
}

bool hw_export_accelforge(const hw_array *array, FILE *out) {
  const uint32_t dim = hw_derive(array).dim;
  const forge f = {.out = out, .hz = array->chip.clock_mhz * 1e6};
  hw_tech tech;
  hw_tech_of(&tech, array);
  fprintf(out, "# Array %s, hash %016" PRIx64 ": %" PRIu32 " x %" PRIu32 " PEs as an AccelForge architecture.\n",
          array->name, hw_array_hash(array), dim, dim);
  if (!tech.has.energy_pj) fputs("# Its technology has no energies: 0 stands for them.\n", out);
  fputs("arch:\n  nodes:\n", out);
  write_memories(array, &tech, &f);
  write_mesh(array, &tech, &f);
  return fflush(out) == 0 && !ferror(out);
}
