// SPDX-License-Identifier: Apache-2.0
// Performance counters of the cycle engine against the hardware: random programs with counter commands of every kind
// strewn in, on both engines; every value and the cycle after every command must be equal.
//
//   cycle_counters_test ARRAY REVISION PROGRAMS
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/gen/gen.h"
#include "sim/gen/random.h"

enum { FIRST_SEED = 900, READS_MAX = 4096, PURPOSE = 77 };

typedef struct counter_read {
  uint64_t rs1, value, cycle;
} counter_read;

typedef struct counter_run {
  counter_read reads[READS_MAX];
  size_t count, nonzero;
  uint64_t cycles;
  bool good;
} counter_run;

static bool push(sim_engine *engine, const arch_command *command, uint64_t *cycle, uint64_t *value) {
  for (;;) {
    sim_push_result result = engine->ops->push(engine, *cycle, command, value);
    if (result != SIM_PUSH_FULL) {
      ++*cycle;
      return result == SIM_PUSH_DONE;
    }
    *cycle = sim_engine_await_room(engine, *cycle, UINT64_MAX);
  }
}

// Mostly reads; else one of the effects of a counter command, or several at once.
static uint64_t counter_operand(sim_gen_random *r) {
  uint64_t rs1, rs2;
  isa_init_counter(&rs1, &rs2);
  isa_set_counter_index(&rs1, &rs2, (uint64_t)sim_gen_in(r, 0, 7));
  int64_t kind = sim_gen_in(r, 0, 15);
  bool external = kind == 4 || kind == 5;
  if (external || kind < 4 || ((kind == 8 || kind == 9) && sim_gen_in(r, 0, 1) != 0)) {
    isa_set_counter_configure(&rs1, &rs2, 1);
    isa_set_counter_external(&rs1, &rs2, external);
    isa_set_counter_event(&rs1, &rs2, (uint64_t)sim_gen_in(r, 0, external ? ISA_EXTERNAL_COUNT : ISA_EVENT_COUNT - 1));
  }
  if (kind == 6 || kind == 9) isa_set_counter_snapshot(&rs1, &rs2, 1);
  if (kind == 7) isa_set_counter_snapshot_reset(&rs1, &rs2, 1);
  if (kind == 8) isa_set_counter_reset(&rs1, &rs2, 1);
  return rs1;
}

static bool read_counters(sim_engine *engine, sim_gen_random *r, uint64_t *cycle, counter_run *run) {
  while (sim_gen_in(r, 0, 2) == 0 && run->count < READS_MAX) {
    const arch_command command = {
        .insn = isa_insn_at(ISA_COUNTER), .rs1 = counter_operand(r), .funct = ISA_FUNCT_COUNTER, .returns = true};
    uint64_t value = 0;
    if (!push(engine, &command, cycle, &value)) return false;
    run->reads[run->count++] = (counter_read){.rs1 = command.rs1, .value = value, .cycle = *cycle};
    run->nonzero += value != 0;
  }
  return true;
}

static bool run_items(sim_engine *engine, const sim_gen_program *program, counter_run *run) {
  sim_gen_random r = sim_gen_random_of(program->seed, PURPOSE);
  uint64_t cycle = 1, value;
  for (size_t i = 0; i < program->count; i++) {
    const sim_gen_item *item = &program->items[i];
    if (!read_counters(engine, &r, &cycle, run)) return false;
    cycle += item->delay;
    if (item->fence)
      cycle = engine->ops->drain(engine, cycle);
    else if (!push(engine, &item->command, &cycle, &value))
      return false;
  }
  run->cycles = engine->ops->drain(engine, cycle);
  return engine->ops->fault(engine)->kind == ARCH_FAULT_NONE;
}

static counter_run *run_on(const char *name, bool every_cycle, const sim_gen_program *program) {
  wf_diag diag = wf_diag_to(stderr);
  const sim_engine_options options = {.every_cycle = every_cycle};
  arch_memory *memory = arch_memory_create(program->image_bytes);
  memcpy(memory->bytes, program->image, program->image_bytes);
  sim_engine *engine = sim_engine_create(sim_engine_find(name), program->array, memory, &options, &diag);
  counter_run *run = WF_NEW(counter_run);
  if (engine != NULL) {
    run->good = run_items(engine, program, run);
    engine->ops->destroy(engine);
  }
  arch_memory_destroy(memory);
  return run;
}

static bool same(const sim_gen_program *program, const char *what, const counter_run *got, const counter_run *want) {
  if (!got->good || !want->good) {
    printf("seed %" PRIu64 ", %s: a run failed\n", program->seed, what);
    return false;
  }
  for (size_t n = 0; n < want->count; n++) {
    const counter_read *g = &got->reads[n], *w = &want->reads[n];
    if (g->value == w->value && g->cycle == w->cycle) continue;
    printf("seed %" PRIu64 ", %s: counter command %zu, rs1 0x%" PRIx64 ": %" PRIu64 " in cycle %" PRIu64
           ", should be %" PRIu64 " in cycle %" PRIu64 "\n",
           program->seed, what, n, w->rs1, g->value, g->cycle, w->value, w->cycle);
    return false;
  }
  if (got->cycles == want->cycles) return true;
  printf("seed %" PRIu64 ", %s: idle after %" PRIu64 " cycles, should be %" PRIu64 "\n", program->seed, what,
         got->cycles, want->cycles);
  return false;
}

static bool test_program(const hw_array *array, uint64_t seed, size_t *reads, size_t *nonzero) {
  const sim_gen_options options = {0};
  sim_gen_program *program = sim_gen_program_create(array, seed, &options);
  counter_run *want = run_on("rtl", false, program);
  counter_run *lazy = run_on("cycle", false, program), *eager = run_on("cycle", true, program);
  bool good = same(program, "cycle", lazy, want) && same(program, "cycle, every cycle", eager, want);
  *reads += want->count;
  *nonzero += want->nonzero;
  wf_free(want);
  wf_free(lazy);
  wf_free(eager);
  sim_gen_program_destroy(program);
  return good;
}

// Nothing but its response is left to wait for when the command ends the counting of events.
static bool test_last_event(const hw_array *array) {
  enum { BYTES = 1 << 16 };
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create(BYTES);
  sim_engine *engine = sim_engine_create(sim_engine_find("cycle"), array, memory, NULL, &diag);
  bool good = engine != NULL;
  uint64_t cycle = 1, value;
  for (unsigned external = 0; good && external < 2; external++) {
    arch_command command = {.insn = isa_insn_at(ISA_COUNTER), .funct = ISA_FUNCT_COUNTER, .returns = true};
    isa_set_counter_configure(&command.rs1, &command.rs2, 1);
    isa_set_counter_event(&command.rs1, &command.rs2,
                          external != 0 ? ISA_EXTERNAL_LOAD_ENTRIES : ISA_EVENT_EXECUTE_ACTIVE);
    isa_set_counter_external(&command.rs1, &command.rs2, external);
    good = push(engine, &command, &cycle, &value);
  }
  if (!good) puts("a counter that stops counting events does not answer");
  if (engine != NULL) engine->ops->destroy(engine);
  arch_memory_destroy(memory);
  return good;
}

int main(int argc, char **argv) {
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  if (argc != 4 || !hw_array_load(&array, argv[1], &diag)) return 2;
  array.isa.revision = (uint32_t)strtoul(argv[2], NULL, 10);
  uint64_t programs = strtoull(argv[3], NULL, 10);
  size_t reads = 0, nonzero = 0;
  if (!test_last_event(&array)) return 1;
  for (uint64_t n = 0; n < programs; n++)
    if (!test_program(&array, FIRST_SEED + n, &reads, &nonzero)) return 1;
  printf("%" PRIu64 " programs, %zu counter commands, %zu values other than zero\n", programs, reads, nonzero);
  return nonzero > reads / 20 ? 0 : 1;
}
