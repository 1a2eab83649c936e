// SPDX-License-Identifier: Apache-2.0
// Writes the array as a GemminiArrayConfig of Gemmini v0.7.1, for use inside the Chipyard tree (package gemmini).
//
// Every parameter of the table is either written to a field (hw_export_scala_field) or has a limit: the one value that
// the generator builds, or "not its business" (memory system, host and clock belong to the Chipyard configuration).
// Other values of a limited parameter are named at the top of the file and by hw_export_limits. The scaling circuits
// are Scala functions, taken from Gemmini's own defaultConfig.
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "hw/export/export.h"

typedef struct scala_field {
  const char *field;
  const char *parameter;
} scala_field;

// Fields whose text is that of the parameter.
static const scala_field plain_fields[] = {
    {"tileRows", "mesh.tile_rows"},
    {"tileColumns", "mesh.tile_columns"},
    {"meshRows", "mesh.rows"},
    {"meshColumns", "mesh.columns"},
    {"tile_latency", "mesh.tile_latency"},
    {"mesh_output_delay", "mesh.output_delay"},
    {"hardcode_d_to_garbage_addr", "mesh.bias_garbage"},
    {"sp_banks", "scratchpad.banks"},
    {"sp_singleported", "scratchpad.single_ported"},
    {"spad_read_delay", "scratchpad.read_delay"},
    {"ex_write_to_spad", "scratchpad.execute_writes"},
    {"acc_banks", "accumulator.banks"},
    {"acc_singleported", "accumulator.single_ported"},
    {"acc_sub_banks", "accumulator.sub_banks"},
    {"acc_latency", "accumulator.latency"},
    {"ex_read_from_acc", "accumulator.execute_reads"},
    {"ex_write_to_acc", "accumulator.execute_writes"},
    {"acc_read_full_width", "accumulator.full_reads"},
    {"acc_read_small_width", "accumulator.narrow_reads"},
    {"ld_queue_length", "load.queue"},
    {"st_queue_length", "store.queue"},
    {"ex_queue_length", "execute.queue"},
    {"reservation_station_entries_ld", "load.reservation_entries"},
    {"reservation_station_entries_st", "store.reservation_entries"},
    {"reservation_station_entries_ex", "execute.reservation_entries"},
    {"dma_buswidth", "dma.bus_bits"},
    {"dma_maxbytes", "dma.max_burst_bytes"},
    {"max_in_flight_mem_reqs", "dma.reads_in_flight"},
    {"tlb_size", "dma.tlb_entries"},
    {"has_max_pool", "units.max_pool"},
    {"has_nonlinear_activations", "units.activation"},
    {"has_normalizations", "units.normaliser"},
    {"has_training_convs", "units.training_conv"},
    {"has_dw_convs", "units.depthwise_conv"},
    {"has_first_layer_optimizations", "units.pixel_repeat"},
    {"num_counter", "units.counters"},
};

// Fields that take more than the parameter's text: write_types, write_memories, write_scales.
static const scala_field shaped_fields[] = {
    {"inputType", "types.input"},
    {"accType", "types.accumulator"},
    {"spatialArrayOutputType", "types.output_bits"},
    {"dataflow", "mesh.dataflow"},
    {"sp_capacity", "scratchpad.capacity_kib"},
    {"acc_capacity", "accumulator.capacity_kib"},
    {"mvin_scale_args", "load.scale_units"},
    {"mvin_scale_args", "load.scale_latency"},
    {"acc_scale_args", "accumulator.scale_units"},
    {"acc_scale_args", "accumulator.scale_latency"},
    {"max_in_flight_mem_reqs", "dma.writes_in_flight"},  // with dma.reads_in_flight: add_conflicts
};

// The only value that the generator builds.
typedef struct fixed_value {
  const char *parameter;
  const char *value;
  const char *reason;
} fixed_value;

static const fixed_value fixed_values[] = {
    {"isa.revision", "1", "the layout of the convolution loops is that of later Gemmini revisions"},
    {"mesh.max_matmuls", "0", "the generator derives it from the mesh's latency"},
    {"mesh.zero_skip", "false", "its PEs have no operand gating"},
    {"load.packed_int4", "false", "its loads widen nothing"},
    {"scratchpad.read_pipeline", "fixed", "the pipelined read queue came with later Gemmini revisions"},
    {"store.order", "issued", "stores that wait for completion came with later Gemmini revisions"},
    {"sync.by", "station", "it has no token queues"},
    {"sync.token_bits", "4", "it has no token queues"},
    {"units.gate", "false", "its stores multiply nothing"},
    {"units.transposer", "true", "the transposer cannot be left out"},
    {"units.loop_matmul", "true", "the loop unroller cannot be left out"},
    {"units.loop_conv", "true", "the loop unroller cannot be left out"},
};

static const char soc_reason[] = "belongs to the Chipyard configuration around the accelerator";
static const char *const soc_sections[] = {"memory", "l2", "host", "chip"};

static void dotted(const hw_param *param, char name[2 * HW_NAME_MAX]) {
  snprintf(name, 2 * HW_NAME_MAX, "%s.%s", param->section, param->name);
}

static const char *find_field(const scala_field *fields, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(fields[i].parameter, name) == 0) return fields[i].field;
  return NULL;
}

const char *hw_export_scala_field(const hw_param *param) {
  char name[2 * HW_NAME_MAX];
  dotted(param, name);
  const char *field = find_field(plain_fields, sizeof plain_fields / sizeof *plain_fields, name);
  return field != NULL ? field : find_field(shaped_fields, sizeof shaped_fields / sizeof *shaped_fields, name);
}

// ---- limits

typedef struct limit_list {
  const hw_array *array;
  hw_export_limit *items;
  size_t count;
} limit_list;

static void add_limit(limit_list *list, const hw_param *param, const char *reason) {
  assert(list->count < HW_EXPORT_LIMITS_MAX);
  hw_export_limit *limit = &list->items[list->count++];
  dotted(param, limit->parameter);
  hw_param_text(param, hw_param_get(list->array, param), limit->value, sizeof limit->value);
  limit->reason = reason;
}

static bool is_soc(const hw_param *param) {
  for (size_t i = 0; i < sizeof soc_sections / sizeof *soc_sections; i++)
    if (strcmp(soc_sections[i], param->section) == 0) return true;
  return false;
}

// Parameters without a field.
static void add_lost(limit_list *list, const hw_param *param) {
  char name[2 * HW_NAME_MAX], value[HW_NAME_MAX];
  dotted(param, name);
  hw_param_text(param, hw_param_get(list->array, param), value, sizeof value);
  for (size_t i = 0; i < sizeof fixed_values / sizeof *fixed_values; i++) {
    const fixed_value *fixed = &fixed_values[i];
    if (strcmp(fixed->parameter, name) == 0 && strcmp(fixed->value, value) != 0) add_limit(list, param, fixed->reason);
  }
  if (is_soc(param) && hw_param_get(list->array, param) != param->initial) add_limit(list, param, soc_reason);
}

// Values of written fields that the generator refuses or shares between units.
static void add_conflicts(limit_list *list) {
  const hw_array *a = list->array;
  const hw_derived d = hw_derive(a);
  if (a->dma.writes_in_flight != a->dma.reads_in_flight)
    add_limit(list, hw_param_find("dma.writes_in_flight"),
              "one field, max_in_flight_mem_reqs, holds for both directions; it is set to dma.reads_in_flight");
  if (a->scratchpad.banks < 2)
    add_limit(list, hw_param_find("scratchpad.banks"), "the generator needs two banks or more");
  if (a->accumulator.sub_banks > 4)
    add_limit(list, hw_param_find("accumulator.sub_banks"), "the generator builds up to four");
  if (d.acc_rows + 2 * d.dim > d.sp_rows)
    add_limit(list, hw_param_find("accumulator.capacity_kib"),
              "the generator wants two tiles more in the scratchpad than in the accumulator");
  if (a->dma.max_burst_bytes != 64)
    add_limit(list, hw_param_find("dma.max_burst_bytes"),
              "the generator's own gemmini_params.h always says 64; use the one written here");
}

size_t hw_export_limits(const hw_array *array, hw_export_limit limits[HW_EXPORT_LIMITS_MAX]) {
  limit_list list = {array, limits, 0};
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) add_lost(&list, &params[i]);
  add_conflicts(&list);
  return list.count;
}

// ---- the file

// "gemmini-default" gives "WeftGemminiDefault".
static void object_name(const hw_array *array, char name[HW_NAME_MAX + 8]) {
  size_t used = (size_t)snprintf(name, HW_NAME_MAX + 8, "Weft");
  bool start = true;
  for (const char *p = array->name; *p != '\0'; p++) {
    if (*p != '-') name[used++] = start ? (char)toupper((unsigned char)*p) : *p;
    start = *p == '-';
  }
  name[used] = '\0';
}

static void write_limits(const hw_array *array, FILE *out) {
  hw_export_limit limits[HW_EXPORT_LIMITS_MAX];
  const size_t count = hw_export_limits(array, limits);
  if (count == 0) {
    fputs("// The generator can express every parameter of this array.\n", out);
    return;
  }
  fputs("// Not expressed by this configuration:\n", out);
  for (size_t i = 0; i < count; i++)
    fprintf(out, "//   %s: %s (%s)\n", limits[i].parameter, limits[i].value, limits[i].reason);
}

static void write_types(const hw_array *array, FILE *out) {
  static const char *const dataflows[] = {"WS", "OS", "BOTH"};
  const hw_derived d = hw_derive(array);
  fprintf(out,
          "    inputType = SInt(%" PRIu32
          ".W),\n"
          "    accType = SInt(%" PRIu32
          ".W),\n"
          "    spatialArrayOutputType = SInt(%" PRIu32
          ".W),\n"
          "    dataflow = Dataflow.%s,\n",
          d.input_bytes * 8, d.acc_bytes * 8, array->types.output_bits, dataflows[array->mesh.dataflow]);
}

static void write_memories(const hw_array *array, FILE *out) {
  fprintf(out,
          "    sp_capacity = CapacityInKilobytes(%" PRIu32
          "),\n"
          "    acc_capacity = CapacityInKilobytes(%" PRIu32 "),\n",
          array->scratchpad.capacity_kib, array->accumulator.capacity_kib);
}

static void write_scale(const char *field, uint32_t latency, int64_t units, FILE *out) {
  fprintf(out,
          "    %s = GemminiConfigs.defaultConfig.%s.map(\n"
          "      _.copy(latency = %" PRIu32 ", num_scale_units = %" PRId64 ")),\n",
          field, field, latency, units);
}

// No scale units in the accumulator means one per lane there (-1 to the generator); for loads, no scaling at all.
static void write_scales(const hw_array *array, FILE *out) {
  const uint32_t accumulator_units = array->accumulator.scale_units;
  if (array->load.scale_units == 0) {
    fputs("    mvin_scale_args = None,\n", out);
  } else {
    write_scale("mvin_scale_args", array->load.scale_latency, array->load.scale_units, out);
  }
  fputs("    mvin_scale_acc_args = None,\n    mvin_scale_shared = false,\n", out);
  write_scale("acc_scale_args", array->accumulator.scale_latency,
              accumulator_units == 0 ? -1 : (int64_t)accumulator_units, out);
}

static void write_plain(const hw_array *array, FILE *out) {
  for (size_t i = 0; i < sizeof plain_fields / sizeof *plain_fields; i++) {
    const hw_param *param = hw_param_find(plain_fields[i].parameter);
    assert(param != NULL);
    char text[HW_NAME_MAX];
    hw_param_text(param, hw_param_get(array, param), text, sizeof text);
    fprintf(out, "    %s = %s,\n", plain_fields[i].field, text);
  }
}

bool hw_export_scala(const hw_array *array, FILE *out) {
  char object[HW_NAME_MAX + 8];
  object_name(array, object);
  fprintf(out, "// Array %s, hash %016" PRIx64 ", for Gemmini v0.7.1 inside Chipyard.\n", array->name,
          hw_array_hash(array));
  fprintf(out,
          "// The system bus must be as wide as dma_buswidth: beatBytes = %" PRIu32 " in Chipyard's SystemBusKey.\n",
          array->dma.bus_bits / 8);
  write_limits(array, out);
  fprintf(out,
          "package gemmini\n\n"
          "import chisel3._\n"
          "import gemmini.Arithmetic.SIntArithmetic\n\n"
          "object %s {\n"
          "  val config = GemminiArrayConfig[SInt, Float, Float](\n",
          object);
  write_types(array, out);
  write_memories(array, out);
  write_scales(array, out);
  write_plain(array, out);
  fprintf(out,
          "    headerFileName = \"gemmini_params.h\"\n"
          "  )\n"
          "}\n\n"
          "class %sGemminiConfig extends DefaultGemminiConfig[SInt, Float, Float](%s.config)\n",
          object, object);
  return fflush(out) == 0 && !ferror(out);
}
