// SPDX-License-Identifier: Apache-2.0
// The report of a simulation: see program_report.h.
#include "api/program_report.h"

#include <inttypes.h>

#include "api/units.h"
#include "base/json.h"
#include "base/name.h"
#include "base/thousands.h"

static const char *const unit_names[] = {
    [ISA_UNIT_LOAD] = "load",      [ISA_UNIT_EXECUTE] = "execute",         [ISA_UNIT_STORE] = "store",
    [ISA_UNIT_FRONT] = "front",    [ISA_UNIT_LOOP_MATMUL] = "loop_matmul", [ISA_UNIT_LOOP_CONV] = "loop_conv",
    [ISA_UNIT_COUNTER] = "counter"};
enum { UNITS = sizeof unit_names / sizeof unit_names[0] };

static const char *const status_names[] = {
    [SIM_RUN_OK] = "finished",
    [SIM_RUN_BAD_INPUT] = "bad input",
    [SIM_RUN_MISMATCH] = "replay differs",
    [SIM_RUN_TRAP] = "unhandled trap",
    [SIM_RUN_ILLEGAL] = "illegal custom instruction",
    [SIM_RUN_LOCAL] = "local address out of range",
    [SIM_RUN_MEMORY] = "accelerator access outside memory",
    [SIM_RUN_LIMIT] = "instruction limit",
    [SIM_RUN_STUCK] = "accelerator stuck",
    [SIM_RUN_CANNOT_BUILD] = "cannot build",
};

static uint64_t unit_commands(const sim_port *port, unsigned unit) {
  uint64_t count = 0;
  for (unsigned id = 0; id < ISA_ID_COUNT; id++)
    if ((unsigned)isa_insn_at(id)->unit == unit) count += port->by_insn[id];
  return count;
}

static void print_count(FILE *out, const char *label, uint64_t value, const char *unit) {
  char number[WF_THOUSANDS];
  fprintf(out, "  %-24s %16s %s\n", label, wf_thousands(value, number), unit);
}

static void print_commands(const sim_port *port, FILE *out) {
  char number[WF_THOUSANDS];
  fprintf(out, "  %-24s %16s\n", "commands", wf_thousands(port->commands, number));
  for (unsigned unit = 0; unit < UNITS; unit++) {
    uint64_t total = unit_commands(port, unit);
    if (total == 0) continue;
    fprintf(out, "    %-22s %16s\n", unit_names[unit], wf_thousands(total, number));
    for (unsigned id = 0; id < ISA_ID_COUNT; id++) {
      const isa_insn *insn = isa_insn_at(id);
      if ((unsigned)insn->unit != unit || port->by_insn[id] == 0) continue;
      fprintf(out, "      %-20s %16s\n", insn->name, wf_thousands(port->by_insn[id], number));
    }
  }
}

static void print_result(const api_program_report *report, FILE *out) {
  const sim_run_result *result = report->result;
  if (!result->hosted)
    fprintf(out, "  %-24s %16s\n", "result",
            result->status != SIM_RUN_OK ? status_names[result->status]
            : report->timing_only        ? "timing only"
            : !result->compared          ? "not compared"
                                         : "same memory");
  else if (result->host.end == HOST_EXITED)
    fprintf(out, "  %-24s %16s %" PRIu64 "\n", "result", "exit code", result->host.exit_code);
  else
    fprintf(out, "  %-24s %s\n", "result", status_names[result->status]);
}

// What the hart spent on the accelerator. Without a hart the source of the commands only waits.
static void print_host(const sim_run_result *result, FILE *out) {
  const sim_port *port = &result->port;
  char number[WF_THOUSANDS];
  uint64_t queue = port->wait_cycles - port->fence_wait_cycles - port->response_wait_cycles;
  double cycles = (double)result->host.cycles;
  print_count(out, "host waits", port->wait_cycles, "");
  fprintf(out, "    %-22s %16s\n", "for a place in a queue", wf_thousands(queue, number));
  fprintf(out, "    %-22s %16s\n", "at fences", wf_thousands(port->fence_wait_cycles, number));
  fprintf(out, "    %-22s %16s\n", "for values", wf_thousands(port->response_wait_cycles, number));
  if (cycles > 0)
    fprintf(out, "  %-24s %16.3f\n", "instructions per cycle", (double)result->host.instructions / cycles);
}

void api_program_text(const api_program_report *report, FILE *out) {
  const sim_run_result *result = report->result;
  char path[WF_NAME_LINE];
  fprintf(out, "%s\n  %-24s %16s  hash %016" PRIx64 ", ISA revision %u, engine %s%s%s\n",
          wf_name_shown(report->path, path), "array", report->array->name, hw_array_hash(report->array),
          report->array->isa.revision, report->engine->name, report->accelerator != NULL ? " with accelerator " : "",
          report->accelerator != NULL ? report->accelerator : "");
  print_result(report, out);
  if (result->hosted) {
    print_count(out, "instructions", result->host.instructions, "");
    if (result->host.traps != 0) print_count(out, "traps", result->host.traps, "");
  }
  if (report->engine->timed) print_count(out, "cycles", result->host.cycles, "");
  if (report->engine->timed && result->hosted) print_host(result, out);
  print_commands(&result->port, out);
  print_count(out, "fences", result->port.fences, "");
  if (!report->timing_only) {
    print_count(out, "memory read", result->read_bytes, "bytes by the accelerator");
    print_count(out, "memory written", result->written_bytes, "bytes by the accelerator");
  }
  if (result->has_units) api_units_print(&result->units, &result->host.counts, report->array, out);
  if (report->sensitivity != NULL) api_sensitivity_print(report->sensitivity, out);
  fprintf(out, "  %-24s %16.3f s", "wall time", result->wall_seconds);
  if (result->hosted && result->wall_seconds > 0)
    fprintf(out, " (%.0f million instructions/s)", (double)result->host.instructions / result->wall_seconds / 1e6);
  fputc('\n', out);
}

static cJSON *commands_json(const sim_port *port) {
  cJSON *units = cJSON_CreateObject();
  for (unsigned unit = 0; unit < UNITS; unit++) {
    if (unit_commands(port, unit) == 0) continue;
    cJSON *object = cJSON_AddObjectToObject(units, unit_names[unit]);
    for (unsigned id = 0; id < ISA_ID_COUNT; id++) {
      const isa_insn *insn = isa_insn_at(id);
      if ((unsigned)insn->unit == unit && port->by_insn[id] != 0) wf_json_count(object, insn->name, port->by_insn[id]);
    }
  }
  return units;
}

static void add_host(cJSON *document, const host_result *hosted) {
  if (hosted->end == HOST_EXITED) wf_json_count(document, "exit_code", hosted->exit_code);
  wf_json_count(document, "instructions", hosted->instructions);
  wf_json_count(document, "traps", hosted->traps);
  wf_json_hash(document, "pc", hosted->pc);
}

static void add_waits(cJSON *document, const sim_port *port) {
  cJSON *waits = cJSON_AddObjectToObject(document, "host_waits");
  wf_json_count(waits, "queue", port->wait_cycles - port->fence_wait_cycles - port->response_wait_cycles);
  wf_json_count(waits, "fence", port->fence_wait_cycles);
  wf_json_count(waits, "response", port->response_wait_cycles);
  wf_json_count(waits, "total", port->wait_cycles);
}

static void add_data(cJSON *document, const sim_run_result *result) {
  wf_json_count(document, "read_bytes", result->read_bytes);
  wf_json_count(document, "written_bytes", result->written_bytes);
  if (result->hosted) return;
  wf_json_hash(document, "digest", result->replay_digest);
  cJSON_AddBoolToObject(document, "compared", result->compared);
}

cJSON *api_program_json(const api_program_report *report) {
  const sim_run_result *result = report->result;
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "file", report->path);
  cJSON_AddStringToObject(document, "kind", result->hosted ? "program" : "trace");
  cJSON_AddStringToObject(document, "array", report->array->name);
  wf_json_hash(document, "array_hash", hw_array_hash(report->array));
  cJSON_AddNumberToObject(document, "isa_revision", report->array->isa.revision);
  cJSON_AddStringToObject(document, "engine", report->engine->name);
  if (report->accelerator != NULL) cJSON_AddStringToObject(document, "accelerator", report->accelerator);
  cJSON_AddStringToObject(document, "status", status_names[result->status]);
  cJSON_AddNumberToObject(document, "weft_exit", report->exit);
  if (result->hosted) add_host(document, &result->host);
  if (report->engine->timed) wf_json_count(document, "cycles", result->host.cycles);
  if (report->engine->timed && result->hosted) add_waits(document, &result->port);
  if (result->fault.kind != ARCH_FAULT_NONE) cJSON_AddStringToObject(document, "fault", result->fault.text);
  wf_json_count(document, "commands", result->port.commands);
  cJSON_AddItemToObject(document, "commands_by_unit", commands_json(&result->port));
  wf_json_count(document, "fences", result->port.fences);
  cJSON_AddBoolToObject(document, "timing_only", report->timing_only);
  if (!report->timing_only) add_data(document, result);
  if (report->engine->timed && result->hosted) api_units_add_hart(&result->host.counts, document);
  if (result->has_memory) api_units_add_memory(&result->memory, document);
  if (result->has_units) api_units_json(&result->units, &result->host.counts, report->array, document);
  if (report->sensitivity != NULL) api_sensitivity_json(report->sensitivity, document);
  cJSON_AddNumberToObject(document, "wall_seconds", result->wall_seconds);
  return document;
}
