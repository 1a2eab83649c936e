// SPDX-License-Identifier: Apache-2.0
// Writes a configuration of ONNXim: one core with this mesh, its memories, and its simple model of memory. The core is
// said twice: at the top, where the first versions read it, and in core_config, where later ones do.
//
// Sizes are KiB, of which ONNXim takes half for each of two buffers. Its simple memory answers one request per channel
// and cycle of dram_freq, so one channel whose request is as wide as the narrower of bus and memory has their
// bandwidth. There is no vector unit in an array: vector_process_bit is that of a row of partial sums, which the store
// unit takes in a cycle, and the latencies are 1.
#include <cjson/cJSON.h>
#include <inttypes.h>

#include "base/number.h"
#include "hw/export/export.h"

static const char *const vector_latencies[] = {"layernorm_latency",   "softmax_latency",    "add_latency",
                                               "mul_latency",         "mac_latency",        "div_latency",
                                               "exp_latency",         "gelu_latency",       "add_tree_latency",
                                               "scalar_sqrt_latency", "scalar_add_latency", "scalar_mul_latency"};

static void add_core(const hw_array *array, cJSON *to) {
  const hw_derived d = hw_derive(array);
  cJSON_AddStringToObject(to, "core_type", array->mesh.dataflow == HW_DATAFLOW_OS ? "systolic_os" : "systolic_ws");
  cJSON_AddNumberToObject(to, "core_width", d.dim);
  cJSON_AddNumberToObject(to, "core_height", d.dim);
  cJSON_AddNumberToObject(to, "spad_size", array->scratchpad.capacity_kib);
  cJSON_AddNumberToObject(to, "accum_spad_size", array->accumulator.capacity_kib);
  cJSON_AddNumberToObject(to, "sram_width", d.sp_row_bytes);
  cJSON_AddNumberToObject(to, "vector_process_bit", 8 * d.acc_row_bytes);
  for (size_t i = 0; i < sizeof vector_latencies / sizeof *vector_latencies; i++)
    cJSON_AddNumberToObject(to, vector_latencies[i], 1);
}

// Cycles on the way to main memory and back; what its banks take beside that the simple model does not know.
static uint32_t latency(const hw_array *array) {
  if (array->memory.model == HW_MEMORY_FIXED) return array->memory.latency_cycles;
  return array->memory.path_cycles + array->memory.controller_ns * array->chip.clock_mhz / 1000;
}

static void add_memory(const hw_array *array, cJSON *to) {
  cJSON_AddStringToObject(to, "dram_type", "simple");
  cJSON_AddNumberToObject(to, "dram_freq", array->chip.clock_mhz);
  cJSON_AddNumberToObject(to, "dram_channels", 1);
  cJSON_AddNumberToObject(to, "dram_req_size", wf_min(array->dma.bus_bits / 8, array->memory.bytes_per_cycle));
  cJSON_AddNumberToObject(to, "dram_latency", latency(array));
  cJSON_AddNumberToObject(to, "dram_size", (array->memory.capacity_mib + 1023) / 1024);
  cJSON_AddStringToObject(to, "icnt_type", "simple");
  cJSON_AddNumberToObject(to, "icnt_latency", 1);
  cJSON_AddNumberToObject(to, "icnt_freq", array->chip.clock_mhz);
}

bool hw_export_onnxim(const hw_array *array, FILE *out) {
  cJSON *document = cJSON_CreateObject();
  char hash[17];
  snprintf(hash, sizeof hash, "%016" PRIx64, hw_array_hash(array));
  cJSON_AddStringToObject(document, "array", array->name);
  cJSON_AddStringToObject(document, "array_hash", hash);
  cJSON_AddNumberToObject(document, "num_cores", 1);
  cJSON_AddNumberToObject(document, "core_freq", array->chip.clock_mhz);
  cJSON_AddNumberToObject(document, "core_print_interval", 100000);
  add_core(array, document);
  add_core(array, cJSON_AddObjectToObject(cJSON_AddObjectToObject(document, "core_config"), "core_0"));
  add_memory(array, document);
  cJSON_AddNumberToObject(document, "precision", hw_derive(array).input_bytes);
  cJSON_AddStringToObject(document, "layout", "NHWC");
  cJSON_AddStringToObject(document, "scheduler", "simple");
  char *text = cJSON_Print(document);
  cJSON_Delete(document);
  fprintf(out, "%s\n", text);
  cJSON_free(text);
  return fflush(out) == 0 && !ferror(out);
}
