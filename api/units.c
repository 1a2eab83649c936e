// SPDX-License-Identifier: Apache-2.0
// What the cycle engine knows of a run: see units.h.
#include "api/units.h"

#include "base/json.h"
#include "base/thousands.h"
#include "sim/figures.h"

enum { BITS = 8 };

// ---- figures

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Bytes per cycle and direction.
static double bus_peak(const hw_array *array) { return array->dma.bus_bits / (double)BITS; }

// ---- text

static void print_count(FILE *out, const char *label, uint64_t value, const char *unit) {
  char number[WF_THOUSANDS];
  fprintf(out, "  %-24s %16s %s", label, wf_thousands(value, number), unit);
}

static void print_unit(const sim_cycle_unit_report *unit, uint64_t cycles, FILE *out) {
  char number[WF_THOUSANDS];
  fprintf(out, "    %s\n", unit->name);
  for (unsigned cause = 0; cause < unit->causes; cause++) {
    if (unit->cycles[cause] == 0) continue;
    fprintf(out, "      %-36s %16s %6.2f %%\n", unit->cause[cause], wf_thousands(unit->cycles[cause], number),
            100 * ratio((double)unit->cycles[cause], (double)cycles));
  }
}

static void print_bus(FILE *out, const char *label, uint64_t bytes, const sim_cycle_report *units,
                      const hw_array *array) {
  double rate = ratio((double)bytes, (double)units->cycles);
  print_count(out, label, bytes, "bytes");
  fprintf(out, ", %.3f per cycle (%.2f %% of %.0f), %.3f GB/s\n", rate, 100 * rate / bus_peak(array), bus_peak(array),
          rate * array->chip.clock_mhz / 1000);
}

static void print_level(const sim_energy_level *level, double total, FILE *out) {
  char number[WF_THOUSANDS];
  if (level->events == 0) return;
  fprintf(out, "    %-22s ", level->name);
  if (isnan(level->pj_each)) {
    fprintf(out, "%16s, %s times\n", "not known", wf_thousands(level->events, number));
    return;
  }
  const double pj = sim_energy_pj(level);
  fprintf(out, "%16.3f uJ %6.2f %%, %s times %.4f pJ\n", pj / 1e6, 100 * ratio(pj, total),
          wf_thousands(level->events, number), level->pj_each);
}

static void print_energy(const sim_figures *f, FILE *out) {
  fprintf(out, "  %-24s %16.3f uJ, technology %s; as models of arrays count %.3f uJ\n", "energy", f->energy_pj / 1e6,
          f->technology, f->array_pj / 1e6);
  for (unsigned n = 0; n < SIM_ENERGY_LEVELS; n++) print_level(&f->energy[n], f->energy_pj, out);
}

void api_units_print_energy(const sim_figures *f, FILE *out) {
  if (!f->has_energy) return;
  fprintf(out, "energy       %.1f uJ, technology %s:", f->energy_pj / 1e6, f->technology);
  const char *comma = " ";
  for (unsigned part = 0; part < SIM_PARTS; part++) {
    if (f->part_pj[part] == 0) continue;
    fprintf(out, "%s%s %.1f", comma, sim_part_names[part], f->part_pj[part] / 1e6);
    comma = ", ";
  }
  fprintf(out, "\n  array's    %.1f uJ as models of arrays count: every byte of its port from main memory\n",
          f->array_pj / 1e6);
  if (f->unknown[0] != '\0') fprintf(out, "  not known  %s\n", f->unknown);
}

static void print_traffic(const sim_cycle_report *units, const hw_array *array, FILE *out) {
  print_bus(out, "bus read", units->bus_read_bytes, units, array);
  print_bus(out, "bus written", units->bus_written_bytes, units, array);
  char number[WF_THOUSANDS];
  if (array->l2.present) {
    print_count(out, "L2 hits", units->memory.hits, "lines, the host's among them\n");
    fprintf(out, "  %-24s %16s lines\n", "L2 misses", wf_thousands(units->memory.misses, number));
  }
  print_count(out, "main memory fetched", units->memory.fetched_bytes, "bytes\n");
  print_count(out, "main memory written", units->memory.written_back_bytes, "bytes\n");
  print_count(out, "scratchpad rows", units->sp_row_reads, "read, ");
  fprintf(out, "%s written\n", wf_thousands(units->sp_row_writes, number));
  print_count(out, "accumulator rows", units->acc_row_reads, "read, ");
  fprintf(out, "%s written\n", wf_thousands(units->acc_row_writes, number));
}

void api_units_print(const sim_cycle_report *units, const host_counts *hart, const hw_array *array, FILE *out) {
  const sim_figures f = sim_figures_of(units, hart, array);
  char number[WF_THOUSANDS];
  fprintf(out, "  %-24s %16.2f %% of %s processing elements, ", "mesh utilisation", 100 * f.utilisation,
          wf_thousands(f.processing_elements, number));
  fprintf(out, "%s multiply-accumulates\n", wf_thousands(units->macs, number));
  if (units->units > 0) {
    print_count(out, "units", units->cycles, "cycles of each, ");
    fprintf(out, "of which the engine carried out %s\n", wf_thousands(units->carried_out, number));
  }
  for (unsigned unit = 0; unit < units->units; unit++) print_unit(&units->unit[unit], units->cycles, out);
  print_traffic(units, array, out);
  if (f.has_energy) print_energy(&f, out);
}

// ---- JSON

static void add_units(const sim_cycle_report *units, cJSON *document) {
  cJSON *all = cJSON_AddObjectToObject(document, "units");
  for (unsigned n = 0; n < units->units; n++) {
    const sim_cycle_unit_report *unit = &units->unit[n];
    cJSON *object = cJSON_AddObjectToObject(all, unit->name);
    for (unsigned cause = 0; cause < unit->causes; cause++)
      wf_json_count(object, unit->cause[cause], unit->cycles[cause]);
  }
}

static void add_mesh(const sim_cycle_report *units, const sim_figures *f, cJSON *document) {
  cJSON *mesh = cJSON_AddObjectToObject(document, "mesh");
  wf_json_count(mesh, "macs", units->macs);
  wf_json_count(mesh, "processing_elements", f->processing_elements);
  cJSON_AddNumberToObject(mesh, "utilisation", f->utilisation);
}

static void add_bus(const sim_cycle_report *units, const hw_array *array, cJSON *document) {
  double read = ratio((double)units->bus_read_bytes, (double)units->cycles);
  double written = ratio((double)units->bus_written_bytes, (double)units->cycles);
  cJSON *bus = cJSON_AddObjectToObject(document, "bus");
  wf_json_count(bus, "read_bytes", units->bus_read_bytes);
  wf_json_count(bus, "written_bytes", units->bus_written_bytes);
  cJSON_AddNumberToObject(bus, "read_bytes_per_cycle", read);
  cJSON_AddNumberToObject(bus, "written_bytes_per_cycle", written);
  cJSON_AddNumberToObject(bus, "peak_bytes_per_cycle", bus_peak(array));
  cJSON_AddNumberToObject(bus, "read_gb_per_s", read * array->chip.clock_mhz / 1000);
  cJSON_AddNumberToObject(bus, "written_gb_per_s", written * array->chip.clock_mhz / 1000);
}

static void add_rows(const sim_cycle_report *units, cJSON *document) {
  cJSON *local = cJSON_AddObjectToObject(document, "local_rows");
  wf_json_count(local, "scratchpad_read", units->sp_row_reads);
  wf_json_count(local, "scratchpad_written", units->sp_row_writes);
  wf_json_count(local, "accumulator_read", units->acc_row_reads);
  wf_json_count(local, "accumulator_written", units->acc_row_writes);
}

void api_units_add_memory(const memsys_counts *counts, cJSON *document) {
  cJSON *memory = cJSON_AddObjectToObject(document, "memory");
  wf_json_count(memory, "read_requests", counts->reads);
  wf_json_count(memory, "write_requests", counts->writes);
  wf_json_count(memory, "read_bytes", counts->read_bytes);
  wf_json_count(memory, "written_bytes", counts->written_bytes);
  wf_json_count(memory, "l2_hits", counts->hits);
  wf_json_count(memory, "l2_misses", counts->misses);
  wf_json_count(memory, "fetched_bytes", counts->fetched_bytes);
  wf_json_count(memory, "written_back_bytes", counts->written_back_bytes);
}

void api_units_add_hart(const host_counts *hart, cJSON *document) {
  static const char *const kinds[HOST_KINDS] = {"integer",        "multiply",     "divide",  "load",
                                                "store",          "branch",       "jump",    "float_add",
                                                "float_multiply", "float_divide", "control", "command"};
  cJSON *object = cJSON_AddObjectToObject(document, "hart");
  for (unsigned kind = 0; kind < HOST_KINDS; kind++) wf_json_count(object, kinds[kind], hart->instructions[kind]);
  wf_json_count(object, "fetches", hart->fetches);
  wf_json_count(object, "fetch_misses", hart->fetch_misses);
  wf_json_count(object, "data_misses", hart->data_misses);
  wf_json_count(object, "written_back_lines", hart->written_back);
}

// A component that is not known has no number.
void api_units_add_energy(const sim_figures *f, cJSON *object) {
  if (!f->has_energy) return;
  cJSON_AddStringToObject(object, "technology", f->technology);
  cJSON *energy = cJSON_AddObjectToObject(object, "energy_pj");
  for (unsigned n = 0; n < SIM_ENERGY_LEVELS; n++)
    if (sim_energy_known(&f->energy[n]))
      cJSON_AddNumberToObject(energy, f->energy[n].name, sim_energy_pj(&f->energy[n]));
    else
      cJSON_AddNullToObject(energy, f->energy[n].name);
  cJSON_AddNumberToObject(energy, "total", f->energy_pj);
  cJSON_AddNumberToObject(object, "array_energy_pj", f->array_pj);
  cJSON_AddStringToObject(object, "energy_unknown", f->unknown);
}

void api_units_json(const sim_cycle_report *units, const host_counts *hart, const hw_array *array, cJSON *document) {
  const sim_figures f = sim_figures_of(units, hart, array);
  wf_json_count(document, "unit_cycles", units->cycles);
  wf_json_count(document, "carried_out", units->carried_out);
  add_mesh(units, &f, document);
  add_units(units, document);
  add_bus(units, array, document);
  add_rows(units, document);
  api_units_add_energy(&f, document);
}
