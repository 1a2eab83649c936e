// SPDX-License-Identifier: Apache-2.0
// Traps, control registers, memory bounds, limits and code that changes.
#include "base/test.h"
#include "sim/host/tests/assemble.h"
#include "sim/host/tests/machine.h"

enum { A0 = 10, A1 = 11, T0 = 5 };
#define NOTHING UINT32_C(0xffffffff)

static void without_handler_ends(void **state) {
  (void)state;
  machine *m = machine_create();
  host_result r = MACHINE_RUN(m, NOP, NOP, NOTHING);
  assert_int_equal(r.end, HOST_TRAPPED);
  assert_int_equal(r.instructions, 2);
  assert_int_equal(r.traps, 0);
  assert_int_equal(r.pc, MACHINE_BASE + 8);
  assert_int_equal(r.last_trap.cause, RV64_ILLEGAL);
  assert_int_equal(r.last_trap.value, NOTHING);
  assert_int_equal(r.last_trap.instruction, NOTHING);
  assert_string_equal(host_cause_name(r.last_trap.cause), "illegal instruction");
  machine_destroy(m);
}

// The handler reads the registers of the trap, skips the instruction and returns.
static void with_handler_goes_on(void **state) {
  (void)state;
  machine *m = machine_create();
  MACHINE_PUT(m, MACHINE_HANDLER, csr_op(CSRRS, 20, CSR_MCAUSE, 0), csr_op(CSRRS, 21, CSR_MEPC, 0),
              csr_op(CSRRS, 22, CSR_MTVAL, 0), csr_op(CSRRS, 23, CSR_MSTATUS, 0), addi(24, 21, 4),
              csr_op(CSRRW, 0, CSR_MEPC, 24), MRET);
  host *h = machine_host(m);
  h->x[A0] = MACHINE_HANDLER | 1;  // vectored: exceptions go to the base all the same
  h->x[A1] = RV64_STATUS_MIE;
  host_result r = MACHINE_RUN(m, csr_op(CSRRW, 0, CSR_MTVEC, A0), csr_op(CSRRS, 0, CSR_MSTATUS, A1), ECALL,
                              csr_op(CSRRS, 25, CSR_MSTATUS, 0), csr_op(CSRRS, 26, CSR_MTVEC, 0), WFI);
  assert_int_equal(r.end, HOST_STUCK);
  assert_int_equal(r.traps, 1);
  assert_int_equal(h->x[20], RV64_ECALL);
  assert_int_equal(h->x[21], MACHINE_BASE + 8);
  assert_int_equal(h->x[22], 0);
  assert_int_equal(h->x[23], RV64_STATUS_MPIE | RV64_STATUS_MPP);
  assert_int_equal(h->x[25], RV64_STATUS_MIE | RV64_STATUS_MPIE | RV64_STATUS_MPP);
  assert_int_equal(h->x[26], MACHINE_HANDLER | 1);
  assert_int_equal(r.instructions, 2 + 7 + 2);
  assert_int_equal(r.pc, MACHINE_BASE + 20);
  machine_destroy(m);
}

static void handler_that_traps_at_once_ends(void **state) {
  (void)state;
  machine *m = machine_create();
  MACHINE_PUT(m, MACHINE_HANDLER, NOTHING);
  machine_host(m)->x[A0] = MACHINE_HANDLER;
  host_result r = MACHINE_RUN(m, csr_op(CSRRW, 0, CSR_MTVEC, A0), ECALL);
  assert_int_equal(r.end, HOST_TRAPPED);
  assert_int_equal(r.traps, 1);
  assert_int_equal(r.last_trap.pc, MACHINE_HANDLER);
  machine_destroy(m);
}

typedef struct {
  uint32_t word;  // uses a0 as its address
  uint64_t address;
  int cause;  // -1: none
} access_case;

static void accesses_are_checked(void **state) {
  (void)state;
  const uint32_t lb = type_i(LOAD, 0, A1, A0, 0), ld = type_i(LOAD, 3, A1, A0, 0), sb = type_s(STORE, 0, A0, A1, 0);
  const uint32_t sd = type_s(STORE, 3, A0, A1, 0), lw = type_i(LOAD, 2, A1, A0, 0), sh = type_s(STORE, 1, A0, A1, 0);
  const uint32_t lr = type_r(AMO, 3, 2 << 2, A1, A0, 0), add = type_r(AMO, 2, 0, A1, A0, A1);
  const access_case cases[] = {
      {lb, MACHINE_END - 1, -1},
      {lb, MACHINE_END, RV64_LOAD_ACCESS},
      {lb, MACHINE_BASE - 1, RV64_LOAD_ACCESS},
      {ld, MACHINE_BASE - 4, RV64_LOAD_ACCESS},
      {ld, MACHINE_END - 8, -1},
      {ld, MACHINE_END - 7, RV64_LOAD_ACCESS},
      {lw, MACHINE_END - 4, -1},
      {lw, MACHINE_END - 3, RV64_LOAD_ACCESS},
      {ld, 0, RV64_LOAD_ACCESS},
      {ld, UINT64_MAX - 3, RV64_LOAD_ACCESS},
      {ld, MACHINE_DATA + 3, -1},  // misaligned ones work
      {sd, MACHINE_DATA + 5, -1},
      {sb, MACHINE_END - 1, -1},
      {sb, MACHINE_END, RV64_STORE_ACCESS},
      {sh, MACHINE_END - 2, -1},
      {sh, MACHINE_END - 1, RV64_STORE_ACCESS},
      {sd, MACHINE_END - 8, -1},
      {sd, MACHINE_END - 4, RV64_STORE_ACCESS},
      {sd, UINT64_C(0x8000000000000000), RV64_STORE_ACCESS},
      {lr, MACHINE_DATA + 4, RV64_LOAD_MISALIGNED},
      {lr, MACHINE_END, RV64_LOAD_ACCESS},
      {add, MACHINE_DATA + 2, RV64_STORE_MISALIGNED},
      {add, MACHINE_END, RV64_STORE_ACCESS},
      {add, MACHINE_END - 4, -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    machine *m = machine_create();
    machine_host(m)->x[A0] = cases[i].address;
    host_result r = MACHINE_RUN(m, cases[i].word, WFI);
    if (cases[i].cause < 0) {
      assert_int_equal(r.end, HOST_STUCK);
    } else {
      assert_int_equal(r.end, HOST_TRAPPED);
      assert_int_equal(r.last_trap.cause, cases[i].cause);
      assert_int_equal(r.last_trap.value, cases[i].address);
      assert_int_equal(r.pc, MACHINE_BASE);
    }
    machine_destroy(m);
  }
}

static void edge_of_memory_keeps_its_bytes(void **state) {
  (void)state;
  machine *m = machine_create();
  host *h = machine_host(m);
  h->x[A0] = MACHINE_END - 3;
  h->x[A1] = 0x8182;
  h->x[12] = MACHINE_DATA + 5;
  h->x[13] = UINT64_C(0x8899aabbccddeeff);
  MACHINE_RUN(m, type_s(STORE, 1, A0, A1, 0), type_i(LOAD, 5, 14, A0, 0), type_i(LOAD, 1, 15, A0, 0),
              type_s(STORE, 3, 12, 13, 0), type_i(LOAD, 2, 16, 12, 0), WFI);
  assert_int_equal(h->x[14], 0x8182);
  assert_int_equal(h->x[15], UINT64_C(0xffffffffffff8182));
  assert_int_equal(machine_get64(m, MACHINE_DATA + 5), UINT64_C(0x8899aabbccddeeff));
  assert_int_equal(h->x[16], UINT64_C(0xffffffffccddeeff));
  machine_destroy(m);
}

static void fetches_are_checked(void **state) {
  (void)state;
  const struct {
    uint64_t target, value;
    uint64_t cause;
  } cases[] = {{0, 0, RV64_FETCH_ACCESS},
               {MACHINE_BASE - 4, MACHINE_BASE - 4, RV64_FETCH_ACCESS},
               {MACHINE_END, MACHINE_END, RV64_FETCH_ACCESS},
               {UINT64_MAX - 1, UINT64_MAX - 1, RV64_FETCH_ACCESS},
               {MACHINE_END - 2, MACHINE_END, RV64_FETCH_ACCESS}};  // only its first half is there
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    machine *m = machine_create();
    uint16_t first_half = 0x0013;
    memcpy(arch_memory_at(m->memory, MACHINE_END - 2, 2), &first_half, 2);
    machine_host(m)->x[A0] = cases[i].target;
    host_result r = MACHINE_RUN(m, type_i(JALR, 0, 0, A0, 0));
    assert_int_equal(r.end, HOST_TRAPPED);
    assert_int_equal(r.instructions, 1);
    assert_int_equal(r.last_trap.cause, cases[i].cause);
    assert_int_equal(r.last_trap.value, cases[i].value);
    assert_int_equal(r.last_trap.pc, cases[i].target);
    machine_destroy(m);
  }
  machine *m = machine_create();
  m->config.entry = MACHINE_BASE + 1;
  host_result r = MACHINE_RUN(m, NOP);
  assert_int_equal(r.last_trap.cause, RV64_FETCH_MISALIGNED);
  machine_destroy(m);
}

// A loop of 4-byte and compressed instructions that crosses a page, with one 4-byte instruction across the boundary.
static void loop_over_pages(machine *m) {
  uint8_t *at = arch_memory_at(m->memory, MACHINE_BASE + 4092, 16);
  const uint16_t code[] = {0x0085, 0x8093, 0x0010, 0x0085};  // c.addi x1, 1; addi x1, x1, 1 at 4094; c.addi x1, 1
  memcpy(at, code, sizeof code);
  MACHINE_PUT(m, MACHINE_BASE + 4100, type_j(0, (uint32_t)-8));
  m->config.entry = MACHINE_BASE + 4092;
}

static void limit_is_exact(void **state) {
  (void)state;
  for (uint64_t n = 1; n < 200; n++) {
    machine *m = machine_create();
    loop_over_pages(m);
    m->config.max_instructions = n;
    host_result r = machine_run(m);
    assert_int_equal(r.end, HOST_LIMIT);
    assert_int_equal(r.instructions, n);
    assert_int_equal(r.cycles, n);
    assert_int_equal(m->h->x[1], n / 4 * 3 + n % 4);
    const uint64_t pcs[] = {4092, 4094, 4098, 4100};
    assert_int_equal(r.pc, MACHINE_BASE + pcs[n % 4]);
    assert_int_equal(machine_run(m).instructions, n);  // and stays there
    machine_destroy(m);
  }
}

static bool stop_at_third(void *context, uint64_t instructions, uint64_t cycles) {
  unsigned *calls = context;
  assert_int_equal(instructions, (uint64_t)++ * calls << 24);
  assert_int_equal(cycles, instructions);
  return *calls < 3;
}

static void progress_can_stop(void **state) {
  (void)state;
  machine *m = machine_create();
  loop_over_pages(m);
  m->config.max_instructions = 0;
  unsigned calls = 0;
  host_result r = host_run(machine_host(m), stop_at_third, &calls);
  assert_int_equal(r.end, HOST_LIMIT);
  assert_int_equal(calls, 3);
  assert_int_equal(r.instructions, UINT64_C(3) << 24);
  machine_destroy(m);
}

static void counters_count(void **state) {
  (void)state;
  machine *m = machine_create();
  host *h = machine_host(m);
  h->x[A0] = 1000;
  MACHINE_RUN(m, csr_op(CSRRS, 20, CSR_INSTRET, 0), csr_op(CSRRS, 21, CSR_CYCLE, 0), NOP,
              csr_op(CSRRW, 22, CSR_MINSTRET, A0), csr_op(CSRRS, 23, CSR_MINSTRET, 0),
              csr_op(CSRRW, 24, CSR_MCYCLE, A0), csr_op(CSRRS, 25, CSR_CYCLE, 0), WFI);
  assert_int_equal(h->x[20], 0);
  assert_int_equal(h->x[21], 1);
  assert_int_equal(h->x[22], 3);
  assert_int_equal(h->x[23], 1000);
  assert_int_equal(h->x[24], 5);
  assert_int_equal(h->x[25], 1000);
  machine_destroy(m);
}

typedef struct {
  uint32_t word;
  bool legal;
} csr_case;

static void unknown_registers_are_illegal(void **state) {
  (void)state;
  const csr_case cases[] = {
      {csr_op(CSRRS, A0, CSR_MHARTID, 0), true}, {csr_op(CSRRW, A0, CSR_MHARTID, A1), false},  // read-only
      {csr_op(CSRRSI, A0, CSR_CYCLE, 1), false}, {csr_op(CSRRSI, A0, CSR_CYCLE, 0), true},     // writes nothing
      {csr_op(CSRRW, A0, 0x3a0, A1), true},                                                    // pmpcfg0
      {csr_op(CSRRW, A0, 0x3b0, A1), true},                                                    // pmpaddr0
      {csr_op(CSRRW, A0, 0x180, A1), true},                                                    // satp
      {csr_op(CSRRW, A0, 0x302, A1), true},                                                    // medeleg
      {csr_op(CSRRW, A0, 0x105, A1), true},                                                    // stvec
      {csr_op(CSRRS, A0, 0xc03, 0), true},                                                     // hpmcounter3
      {csr_op(CSRRW, A0, 0x7c0, A1), false},     {csr_op(CSRRS, A0, 0x015, 0), false},
      {csr_op(CSRRS, A0, 0xf16, 0), false},      {csr_op(CSRRS, A0, CSR_FFLAGS, 0), false},  // mstatus.FS is off
      {csr_op(4, A0, CSR_MSCRATCH, 0), false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    machine *m = machine_create();
    host *h = machine_host(m);
    h->x[A1] = UINT64_MAX;
    host_result r = MACHINE_RUN(m, cases[i].word, cases[i].word, WFI);
    assert_int_equal(r.end, cases[i].legal ? HOST_STUCK : HOST_TRAPPED);
    if (!cases[i].legal) assert_int_equal(r.last_trap.value, cases[i].word);
    bool counter = (cases[i].word >> 20) == CSR_CYCLE;
    if (cases[i].legal) assert_int_equal(h->x[A0], counter ? 1 : 0);
    machine_destroy(m);
  }
}

static void status_keeps_what_it_has(void **state) {
  (void)state;
  machine *m = machine_create();
  host *h = machine_host(m);
  h->x[A0] = UINT64_MAX;
  MACHINE_RUN(m, csr_op(CSRRW, 0, CSR_MSTATUS, A0), csr_op(CSRRC, 20, CSR_MSTATUS, A0),
              csr_op(CSRRS, 21, CSR_MSTATUS, 0), csr_op(CSRRW, 0, CSR_MISA, 0), csr_op(CSRRS, 22, CSR_MISA, 0),
              csr_op(CSRRW, 0, CSR_MEPC, A0), csr_op(CSRRS, 23, CSR_MEPC, 0), WFI);
  assert_int_equal(h->x[20], RV64_STATUS_MIE | RV64_STATUS_MPIE | RV64_STATUS_MPP | RV64_STATUS_FS | RV64_STATUS_XS |
                                 RV64_STATUS_SD);
  assert_int_equal(h->x[21], RV64_STATUS_MPP);
  assert_int_equal(h->x[22], UINT64_C(2) << 62 | 0x112d);  // I M A F D C
  assert_int_equal(h->x[23], UINT64_MAX - 1);
  machine_destroy(m);
}

static void stuck_programs_are_seen(void **state) {
  (void)state;
  const uint32_t words[] = {WFI, type_j(0, 0), type_j(1, 0), 0xa001};  // the last: c.j to itself
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    machine *m = machine_create();
    host_result r = MACHINE_RUN(m, NOP, words[i]);
    assert_int_equal(r.end, HOST_STUCK);
    assert_int_equal(r.pc, MACHINE_BASE + 4);
    assert_int_equal(r.instructions, 1);
    machine_destroy(m);
  }
}

// The program replaces an instruction that it has run before, fences, and runs it again.
static void changed_code_runs_after_the_fence(void **state) {
  (void)state;
  machine *m = machine_create();
  host *h = machine_host(m);
  const uint64_t routine = MACHINE_BASE + 0x2000;
  MACHINE_PUT(m, routine, addi(A0, A0, 1), type_i(JALR, 0, 0, 1, 0));
  h->x[6] = routine;
  h->x[7] = addi(A0, A0, 16);
  MACHINE_RUN(m, type_i(JALR, 0, 1, 6, 0), type_s(STORE, 2, 6, 7, 0), FENCE_I, type_i(JALR, 0, 1, 6, 0), FENCE_I,
              type_i(JALR, 0, 1, 6, 0), WFI);
  assert_int_equal(h->x[A0], 1 + 16 + 16);
  machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_handler_ends),
      cmocka_unit_test(with_handler_goes_on),
      cmocka_unit_test(handler_that_traps_at_once_ends),
      cmocka_unit_test(accesses_are_checked),
      cmocka_unit_test(edge_of_memory_keeps_its_bytes),
      cmocka_unit_test(fetches_are_checked),
      cmocka_unit_test(limit_is_exact),
      cmocka_unit_test(progress_can_stop),
      cmocka_unit_test(counters_count),
      cmocka_unit_test(unknown_registers_are_illegal),
      cmocka_unit_test(status_keeps_what_it_has),
      cmocka_unit_test(stuck_programs_are_seen),
      cmocka_unit_test(changed_code_runs_after_the_fence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
