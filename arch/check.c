// SPDX-License-Identifier: Apache-2.0
// The checker's driver: capabilities, loop expansion, messages. See check.h.
#include "arch/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "arch/check_private.h"
#include "base/alloc.h"

static void decided_by(arch_check_fields *fields, const isa_field *field) {
  fields->decides[field->reg - 1] |= isa_field_max(field) << field->lsb;
}

static void find_deciding_fields(arch_check_fields *fields, const isa_insn *insn) {
  for (size_t i = 0; i < insn->field_count; i++) {
    const isa_field *field = &insn->fields[i];
    if (field->min != 0 || field->max < isa_field_max(field)) decided_by(fields, field);
  }
  for (size_t i = 0; i < insn->deny_count; i++)
    for (size_t n = 0; n < insn->denies[i].term_count; n++)
      decided_by(fields, &insn->fields[insn->denies[i].terms[n].field]);
}

arch_checker *arch_checker_create(const hw_array *array, const arch_memory *memory) {
  arch_checker *checker = WF_NEW(arch_checker);
  checker->array = array;
  checker->memory = memory;
  checker->derived = hw_derive(array);
  for (size_t id = 0; id < ISA_ID_COUNT; id++) find_deciding_fields(&checker->fields[id], isa_insn_at(id));
  arch_config_reset(&checker->config, array);
  arch_loop_ws_reset(&checker->loop_ws, &checker->derived);
  arch_loop_conv_reset(&checker->loop_conv);
  return checker;
}

void arch_checker_destroy(arch_checker *checker) {
  if (checker == NULL) return;
  wf_free(checker->memo);
  wf_free(checker);
}

void arch_checker_copy(arch_checker *to, const arch_checker *from) {
  const arch_memory *memory = to->memory;
  arch_check_memo *memo = to->memo;
  *to = *from;
  to->memory = memory;
  to->memo = memo;
}

const arch_config *arch_checker_config(const arch_checker *checker) { return &checker->config; }

bool arch_check_fail(arch_checker *checker, arch_fault_kind kind, const char *format, ...) {
  arch_fault *fault = checker->fault;
  fault->kind = kind;
  fault->command = *checker->program;
  size_t used = 0, size = sizeof fault->text;
  if (checker->loop != NULL) used += (size_t)snprintf(fault->text, size, "%s: ", checker->loop);
  used += (size_t)snprintf(fault->text + used, size - used, "%s: ", checker->name);
  va_list args;
  va_start(args, format);
  vsnprintf(fault->text + used, size - used, format, args);
  va_end(args);
  return false;
}

bool arch_check_rows(arch_checker *checker, const char *what, bool accumulator, int64_t first, int64_t count,
                     int64_t stride) {
  if (count <= 0) return true;
  int64_t last = first + (count - 1) * stride, rows = arch_local_rows(&checker->derived, accumulator);
  int64_t low = first < last ? first : last, high = first < last ? last : first;
  if (low >= 0 && high < rows) return true;
  const char *memory = arch_local_memory_name(accumulator);
  const char *gap = what[0] == '\0' ? "" : " ";
  if (low == high)
    return arch_check_fail(checker, ARCH_FAULT_LOCAL, "%s%s%s row %" PRId64 " of %" PRId64, what, gap, memory, low,
                           rows);
  return arch_check_fail(checker, ARCH_FAULT_LOCAL, "%s%s%s rows %" PRId64 "..%" PRId64 " of %" PRId64, what, gap,
                         memory, low, high, rows);
}

static bool touch(arch_checker *checker, uint64_t address, uint64_t length) {
  arch_check_extent *x = checker->extent;
  if (x == NULL || length == 0) return true;
  if (address < x->low) x->low = address;
  if (address + length > x->end) x->end = address + length;
  return true;
}

bool arch_check_bytes(arch_checker *checker, const char *verb, uint64_t address, uint64_t length) {
  if (checker->memory == NULL || length == 0 || arch_memory_at(checker->memory, address, length) != NULL)
    return touch(checker, address, length);
  return arch_check_fail(checker, ARCH_FAULT_MEMORY,
                         "%s bytes 0x%" PRIx64 "..0x%" PRIx64 " outside main memory 0x%" PRIx64 "..0x%" PRIx64, verb,
                         address, address + length - 1, ARCH_MEMORY_BASE, ARCH_MEMORY_BASE + checker->memory->size - 1);
}

// Rows that lie in memory with all that is between them need no look each.
bool arch_check_byte_rows(arch_checker *checker, const char *verb, uint64_t address, uint32_t rows, uint64_t stride,
                          uint64_t length) {
  if (rows == 0 || length == 0) return true;
  if (checker->memory != NULL && stride <= UINT32_MAX && length <= UINT32_MAX) {
    const uint64_t all = (rows - 1) * stride + length;
    if (arch_memory_at(checker->memory, address, all) != NULL) return touch(checker, address, all);
  }
  for (uint32_t i = 0; i < rows; i++)
    if (!arch_check_bytes(checker, verb, address + i * stride, length)) return false;
  return true;
}

static bool check_config_ld(arch_checker *checker, uint64_t rs1, uint64_t rs2) {
  if (!isa_get_config_ld_packed(rs1, rs2) || checker->array->load.packed_int4) return true;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL,
                         "packed rows, and this array cannot widen int4 (load.packed_int4)");
}

static bool check_config_st(arch_checker *checker, uint64_t rs1, uint64_t rs2) {
  if (isa_get_config_st_pool_stride(rs1, rs2) != 0 && !checker->array->units.max_pool)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array has no pooling unit");
  if (isa_get_config_st_activation(rs1, rs2) == ARCH_ACTIVATION_RELU && !checker->array->units.activation)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array has no ReLU unit");
  return true;
}

// Before revision 1 this kind of configuration was that of an im2col unit. Its programs give it behind each config_ex,
// nearly always with no field set: rs1[59:42] and rs2[63:44] and [31:20] hold them, where config_norm has the upper
// bits of its constants.
static bool is_im2col(uint64_t rs1, uint64_t rs2) {
  const uint64_t in_rs1 = UINT64_C(0x0ffffc0000000000) | 3, in_rs2 = UINT64_C(0xfffff000fff00000);
  return (rs1 & ~in_rs1) == 0 && (rs2 & ~in_rs2) == 0;
}

static bool check_config_norm(arch_checker *checker, uint64_t rs1, uint64_t rs2) {
  if (!checker->array->units.normaliser && is_im2col(rs1, rs2)) {
    checker->name = "config_im2col";
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL,
                           "a configuration of programs before ISA revision 1; this revision has no im2col unit");
  }
  if (!checker->array->units.normaliser)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array has no normaliser");
  uint64_t id = isa_get_config_norm_stats_id(rs1, rs2);
  if (id >= checker->derived.norm_stats)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "statistics set %" PRIu64 " of %u", id,
                           checker->derived.norm_stats);
  return true;
}

static bool check_config_gate(arch_checker *checker) {
  if (checker->array->units.gate) return true;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array has no gate (units.gate)");
}

// Loops store with the state of the store unit, and their stores find no rows of the scratchpad to multiply by.
static bool check_no_gate(arch_checker *checker) {
  if (!checker->config.store.gate) return true;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "the gate is on, and loops store without it");
}

static bool check_counter(arch_checker *checker, uint64_t rs1, uint64_t rs2) {
  uint64_t index = isa_get_counter_index(rs1, rs2);
  if (index < checker->array->units.counters) return true;
  if (checker->array->units.counters == 0)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array has no performance counters");
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "counter %" PRIu64 " of %u", index,
                         checker->array->units.counters);
}

// The rules of one primitive beyond the field ranges of the instruction table.
static bool check_rules(arch_checker *checker, isa_id id, uint64_t rs1, uint64_t rs2) {
  switch (id) {
    case ISA_CONFIG_EX:
      return arch_check_config_ex(checker, rs1, rs2);
    case ISA_CONFIG_LD:
      return check_config_ld(checker, rs1, rs2);
    case ISA_CONFIG_ST:
      return check_config_st(checker, rs1, rs2);
    case ISA_CONFIG_NORM:
      return check_config_norm(checker, rs1, rs2);
    case ISA_CONFIG_GATE:
      return check_config_gate(checker);
    case ISA_MVIN:
      return arch_check_mvin(checker, 0, rs1, rs2);
    case ISA_MVIN2:
      return arch_check_mvin(checker, 1, rs1, rs2);
    case ISA_MVIN3:
      return arch_check_mvin(checker, 2, rs1, rs2);
    case ISA_MVOUT:
      return arch_check_mvout(checker, rs1, rs2);
    case ISA_MVOUT_SPAD_R2:
      return arch_check_mvout_spad(checker, rs1, rs2);
    case ISA_PRELOAD:
      return arch_check_preload_command(checker, rs1, rs2);
    case ISA_COMPUTE_PRELOADED:
      return arch_check_compute(checker, true, rs1, rs2);
    case ISA_COMPUTE_ACCUMULATED:
      return arch_check_compute(checker, false, rs1, rs2);
    case ISA_COUNTER:
      return check_counter(checker, rs1, rs2);
    default:  // flush, clock gating
      return true;
  }
}

// With strides_only hardware looks at no other field of config_ex.
static bool only_strides(const arch_command *command) {
  return command->insn->id == ISA_CONFIG_EX && isa_get_config_ex_strides_only(command->rs1, command->rs2);
}

// Programs repeat few combinations of sizes and modes, with other addresses.
static bool check_field_values(arch_checker *checker, const arch_command *command) {
  const isa_insn *insn = command->insn;
  arch_check_fields *fields = &checker->fields[insn->id];
  const uint64_t rs1 = command->rs1 & fields->decides[0], rs2 = command->rs2 & fields->decides[1];
  if (fields->known && rs1 == fields->legal[0] && rs2 == fields->legal[1]) return true;
  char reason[192];
  if (isa_check(insn, command->rs1, command->rs2, reason, sizeof reason)) {
    fields->legal[0] = rs1;
    fields->legal[1] = rs2;
    fields->known = true;
    return true;
  }
  size_t prefix = 0;  // isa_check begins with the name of the instruction, and so does arch_check_fail
  while (insn->name[prefix] != '\0' && reason[prefix] == insn->name[prefix]) prefix++;
  while (reason[prefix] == ':' || reason[prefix] == ' ') prefix++;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "%s", reason + prefix);
}

static bool check_primitive(arch_checker *checker, const arch_command *command) {
  checker->name = command->insn->name;
  if (!only_strides(command) && !check_field_values(checker, command)) return false;
  return check_rules(checker, command->insn->id, command->rs1, command->rs2);
}

typedef struct passing {
  arch_primitive_sink sink;
  void *context;
} passing;

static bool pass_primitive(arch_checker *checker, const arch_command *command, passing to) {
  if (!check_primitive(checker, command)) return false;
  arch_config_apply(&checker->config, command->insn->id, command->rs1, command->rs2);
  if (command->insn->id == ISA_CONFIG_EX) arch_check_forget_products(checker);
  if (to.sink != NULL) to.sink(to.context, command);
  return true;
}

// One primitive of a loop, or why there is none.
static bool pass_loop_primitive(arch_checker *checker, arch_loop_result result, const arch_loop_cursor *cursor,
                                const arch_command *command, passing to) {
  if (result == ARCH_LOOP_NO_ROW) {
    checker->name = "no room for the tiles";
    return arch_check_rows(checker, "", cursor->accumulator, cursor->row, 1, 1);
  }
  if (to.sink == NULL && arch_check_product_repeats(checker, command)) return true;
  return pass_primitive(checker, command, to);
}

static bool run_loop_ws(arch_checker *checker, const arch_command *run, passing to) {
  arch_loop_ws_plan plan;
  arch_loop_ws_run(&checker->loop_ws, &checker->derived, run->insn->id, run, &plan);
  bool norm = plan.activation == ARCH_ACTIVATION_LAYERNORM || plan.activation == ARCH_ACTIVATION_SOFTMAX;
  const char *reason = arch_loop_ws_fault(&plan);
  if (reason == NULL && norm && plan.runs[ARCH_LOOP_WS_STORE] && !plan.spad_only && !checker->array->units.normaliser)
    reason = "this array has no normaliser";
  if (reason != NULL) return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "%s", reason);
  if (!check_no_gate(checker)) return false;
  checker->loop = run->insn->name;
  if (to.sink == NULL) {
    arch_check_memo_begin_ws(checker, &plan);
    if (arch_check_memo_passes(checker)) return true;
  }
  for (int part = 0; part < ARCH_LOOP_WS_PARTS; part++) {
    if (to.sink == NULL) checker->extent = arch_check_memo_extent(checker, (unsigned)part);
    arch_loop_cursor cursor = {0};
    arch_command primitive;
    arch_loop_result result;
    while ((result = arch_loop_ws_next(&plan, (arch_loop_ws_part)part, &cursor, &primitive)) != ARCH_LOOP_END)
      if (!pass_loop_primitive(checker, result, &cursor, &primitive, to)) return false;
  }
  if (to.sink == NULL) arch_check_memo_keep(checker);
  return true;
}

static const char *missing_conv_unit(const arch_checker *checker, const arch_loop_conv_plan *plan) {
  bool training = plan->wrot180 || plan->trans_output_1203 || plan->trans_weight_1203 || plan->trans_weight_0132 ||
                  plan->trans_input_3120 || plan->input_dilated;
  if (training && !checker->array->units.training_conv)
    return "this array's convolution loop has no transposed or dilated operands (training_conv)";
  if (plan->depthwise && !checker->array->units.depthwise_conv)
    return "this array's convolution loop has no depthwise mode";
  if (!plan->no_pool && plan->slot.output != 0 && !checker->array->units.max_pool)
    return "this array has no pooling unit";
  return NULL;
}

static bool run_loop_conv(arch_checker *checker, const arch_command *run, passing to) {
  arch_loop_conv_plan plan;
  arch_loop_conv_run(&checker->loop_conv, checker->array, &checker->derived, run->insn->id, run, &plan);
  const char *reason = missing_conv_unit(checker, &plan);
  if (reason == NULL) reason = arch_loop_conv_fault(&plan);
  if (reason != NULL) return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "%s", reason);
  if (!check_no_gate(checker)) return false;
  checker->loop = run->insn->name;
  if (to.sink == NULL) {
    arch_check_memo_begin_conv(checker, &plan);
    if (arch_check_memo_passes(checker)) return true;
  }
  for (int part = 0; part < ARCH_LOOP_CONV_PARTS; part++) {
    if (to.sink == NULL) checker->extent = arch_check_memo_extent(checker, (unsigned)part);
    arch_loop_cursor cursor = {0};
    arch_command primitive;
    arch_loop_result result;
    while ((result = arch_loop_conv_next(&plan, (arch_loop_conv_part)part, &cursor, &primitive)) != ARCH_LOOP_END)
      if (!pass_loop_primitive(checker, result, &cursor, &primitive, to)) return false;
  }
  if (to.sink == NULL) arch_check_memo_keep(checker);
  return true;
}

static bool loop_command_ok(arch_checker *checker, const arch_command *command) {
  bool present =
      command->insn->unit == ISA_UNIT_LOOP_MATMUL ? checker->array->units.loop_matmul : checker->array->units.loop_conv;
  if (!present) return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array has no such loop unroller");
  return check_primitive(checker, command);
}

static bool pass_loop_command(arch_checker *checker, const arch_command *command, passing to) {
  const isa_insn *insn = command->insn;
  if (!loop_command_ok(checker, command)) return false;
  switch (insn->id) {
    case ISA_LOOP_WS_R1:
    case ISA_LOOP_WS_R2:
      return run_loop_ws(checker, command, to);
    case ISA_LOOP_CONV_WS_R1:
    case ISA_LOOP_CONV_WS_R2:
      return run_loop_conv(checker, command, to);
    default:
      break;
  }
  if (insn->unit == ISA_UNIT_LOOP_MATMUL)
    arch_loop_ws_configure(&checker->loop_ws, insn->id, command->rs1, command->rs2);
  else
    arch_loop_conv_configure(&checker->loop_conv, insn->id, command->rs1, command->rs2);
  if (to.sink != NULL) to.sink(to.context, command);
  return true;
}

static bool fail_unknown(arch_checker *checker, const arch_command *command) {
  checker->name = "no such instruction";
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "funct %u in ISA revision %u", command->funct,
                         checker->array->isa.revision);
}

static void begin(arch_checker *checker, const arch_command *command, arch_fault *fault) {
  checker->program = command;
  checker->fault = fault;
  checker->loop = NULL;
  checker->extent = NULL;
}

static __attribute__((noinline)) bool pass_command(arch_checker *checker, const arch_command *command,
                                                   arch_primitive_sink sink, void *context, arch_fault *fault) {
  const isa_insn *insn = command->insn;
  passing to = {.sink = sink, .context = context};
  begin(checker, command, fault);
  if (insn == NULL) return fail_unknown(checker, command);
  checker->name = insn->name;
  if (insn->unit == ISA_UNIT_LOOP_MATMUL || insn->unit == ISA_UNIT_LOOP_CONV)
    return pass_loop_command(checker, command, to);
  return pass_primitive(checker, command, to);
}

bool arch_checker_command(arch_checker *checker, const arch_command *command, arch_primitive_sink sink, void *context,
                          arch_fault *fault) {
  const bool by_tokens = checker->array->sync.by == HW_SYNC_TOKENS;
  if (command->insn != NULL && (by_tokens || (command->rs2 & command->insn->tokens) != 0)) {
    begin(checker, command, fault);
    if (!arch_check_tokens(checker, command)) return false;
  }
  if (sink == NULL && command->insn != NULL && arch_check_product_repeats(checker, command)) return true;
  return pass_command(checker, command, sink, context, fault);
}

uint64_t arch_checker_undefined(const arch_checker *checker) { return checker->undefined; }

uint64_t arch_checker_walked(const arch_checker *checker) { return checker->walked; }
