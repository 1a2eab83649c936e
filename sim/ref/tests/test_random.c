// SPDX-License-Identifier: Apache-2.0
// Random commands, most of them illegal: every one passes or faults with a text, and one that faults has not touched
// main memory. Under the sanitizers this shows that the checker leaves nothing to execution that could be out of
// bounds.
#include <string.h>

#include "base/hash.h"
#include "isa/isa.h"
#include "sim/ref/tests/machine.h"

enum { COMMANDS = 60000, TOUCHED = 1 << 16 };

static uint64_t seed;

static uint64_t draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

static uint64_t draw_below(uint64_t limit) { return draw() % limit; }

// Mostly small numbers and addresses that exist, so that many commands are legal.
static uint64_t draw_value(const isa_field *field) {
  if (draw_below(16) == 0) return draw();
  switch (field->type) {
    case ISA_TYPE_CONST:
      return field->min;
    case ISA_TYPE_DRAM:
      return draw_below(4) == 0 ? 0 : ARCH_MEMORY_BASE + draw_below(TOUCHED / 2);
    case ISA_TYPE_LOCAL_ADDRESS:
      if (draw_below(5) == 0) return UINT32_MAX;
      return draw_below(8) << 29 | draw_below(draw_below(4) == 0 ? 1100 : 128);
    case ISA_TYPE_F32:
      return draw_below(2) == 0 ? 0x3f800000 : draw();
    case ISA_TYPE_BYTES:
      return draw_below(64);
    default:
      return draw_below(5);
  }
}

static arch_command draw_command(unsigned revision) {
  const isa_insn *insn;
  do insn = isa_insn_at(draw_below(ISA_ID_COUNT));
  while ((insn->revisions >> (revision - 1) & 1) == 0);
  arch_command command = {.insn = insn, .funct = (uint8_t)insn->funct, .returns = insn->returns};
  for (size_t n = 0; n < insn->field_count; n++)
    isa_field_set(&insn->fields[n], &command.rs1, &command.rs2, draw_value(&insn->fields[n]));
  return command;
}

static uint64_t digest(machine *m) { return wf_hash(WF_HASH_START, m->memory->bytes, TOUCHED); }

static bool is_loop(const arch_command *command) {
  const isa_unit unit = command->insn->unit;
  return unit == ISA_UNIT_LOOP_MATMUL || unit == ISA_UNIT_LOOP_CONV;
}

// Returns how many commands passed.
static unsigned run(const hw_array *array) {
  unsigned passed = 0;
  machine *m = machine_create(array);
  for (unsigned n = 0; n < COMMANDS; n++) {
    arch_command command = draw_command(array->isa.revision);
    uint64_t response, before = n % 16 == 0 ? digest(m) : 0;
    if (m->engine->ops->push(m->engine, 0, &command, &response) == SIM_PUSH_DONE) {
      passed++;
      continue;
    }
    const arch_fault *fault = m->engine->ops->fault(m->engine);
    assert_int_not_equal(fault->kind, ARCH_FAULT_NONE);
    assert_true(strlen(fault->text) > 10);
    if (n % 16 == 0 && !is_loop(&command)) assert_true(digest(m) == before);
    machine_destroy(m);
    m = machine_create(array);
  }
  machine_destroy(m);
  return passed;
}

static void test_random_commands_pass_or_fault(void **state) {
  (void)state;
  seed = UINT64_C(0x9e3779b97f4a7c15);
  for (unsigned revision = 1; revision <= 2; revision++)
    for (int normaliser = 0; normaliser <= 1; normaliser++) {
      hw_array array = machine_default_array();
      array.isa.revision = revision;
      array.mesh.rows = array.mesh.columns = 4;
      array.scratchpad.capacity_kib = array.accumulator.capacity_kib = 4;
      array.units.normaliser = normaliser != 0;
      assert_in_range(run(&array), COMMANDS / 4, COMMANDS - COMMANDS / 16);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_commands_pass_or_fault)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
