// SPDX-License-Identifier: Apache-2.0
// HTIF, semihosting and the accelerator's port.
#include <fenv.h>

#include "base/test.h"
#include "sim/host/tests/assemble.h"
#include "sim/host/tests/machine.h"

enum { A0 = 10, A1 = 11 };

// Stores a1 to tohost and waits.
static host_result tell(machine *m, uint64_t value) {
  host *h = machine_host(m);
  h->x[A0] = MACHINE_TOHOST;
  h->x[A1] = value;
  return MACHINE_RUN(m, type_s(STORE, 3, A0, A1, 0), WFI);
}

static void odd_is_exit(void **state) {
  (void)state;
  const uint64_t values[] = {1, 3, 2675, 0x00ffffffffffffff};
  for (size_t i = 0; i < 4; i++) {
    machine *m = machine_create();
    host_result r = tell(m, values[i]);
    assert_int_equal(r.end, HOST_EXITED);
    assert_int_equal(r.exit_code, values[i] >> 1);
    assert_int_equal(r.instructions, 1);
    machine_destroy(m);
  }
}

typedef struct {
  uint64_t number, fd, pointer, length;
  int64_t result;
  const char *out, *error;
} call_case;

static void system_calls(void **state) {
  (void)state;
  const call_case cases[] = {
      {64, 1, MACHINE_DATA + 256, 5, 5, "hello", ""}, {64, 2, MACHINE_DATA + 256, 4, 4, "", "hell"},
      {64, 1, MACHINE_DATA + 256, 0, 0, "", ""},      {64, 7, MACHINE_DATA + 256, 5, -9, "", ""},
      {64, 1, MACHINE_END - 4, 5, -14, "", ""},       {64, 1, 0, 5, -14, "", ""},
      {64, 1, MACHINE_DATA, UINT64_MAX, -14, "", ""}, {63, 1, MACHINE_DATA, 1, -38, "", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const call_case *c = &cases[i];
    machine *m = machine_create();
    memcpy(arch_memory_at(m->memory, MACHINE_DATA + 256, 5), "hello", 5);
    const uint64_t block[] = {c->number, c->fd, c->pointer, c->length};
    for (size_t k = 0; k < 4; k++) machine_set64(m, MACHINE_DATA + 8 * k, block[k]);
    assert_int_equal(tell(m, MACHINE_DATA).end, HOST_STUCK);
    assert_int_equal(machine_get64(m, MACHINE_DATA), c->result);
    assert_int_equal(machine_get64(m, MACHINE_FROMHOST), 1);
    assert_int_equal(machine_get64(m, MACHINE_TOHOST), 0);
    assert_string_equal(m->text, c->out);
    assert_string_equal(m->error_text, c->error);
    machine_destroy(m);
  }
}

static void nonsense_is_a_store_fault(void **state) {
  (void)state;
  const uint64_t values[] = {MACHINE_END, 8, UINT64_C(0x0500000000000000), UINT64_C(0x0101000000000041) + (1ull << 57)};
  for (size_t i = 0; i < 4; i++) {
    machine *m = machine_create();
    host_result r = tell(m, values[i]);
    assert_int_equal(r.end, HOST_TRAPPED);
    assert_int_equal(r.last_trap.cause, RV64_STORE_ACCESS);
    assert_int_equal(r.last_trap.value, values[i]);
    machine_destroy(m);
  }
}

static void characters(void **state) {
  (void)state;
  machine *m = machine_create();
  assert_int_equal(tell(m, UINT64_C(0x0101000000000041)).end, HOST_STUCK);
  assert_string_equal(m->text, "A");
  assert_int_equal(machine_get64(m, MACHINE_TOHOST), 0);
  machine_destroy(m);
}

// Without a tohost symbol the address is memory like any other.
static void no_tohost(void **state) {
  (void)state;
  machine *m = machine_create();
  m->config.tohost = 0;
  assert_int_equal(tell(m, 3).end, HOST_STUCK);
  assert_int_equal(machine_get64(m, MACHINE_TOHOST), 3);
  machine_destroy(m);
}

static host_result semihost(machine *m, uint64_t operation, uint64_t argument) {
  host *h = machine_host(m);
  h->x[A0] = operation;
  h->x[A1] = argument;
  h->pc = MACHINE_BASE;
  return MACHINE_RUN(m, SEMIHOST_BEFORE, EBREAK, SEMIHOST_AFTER, WFI);
}

static uint64_t semihost_block(machine *m, uint64_t operation, uint64_t a, uint64_t b, uint64_t c) {
  const uint64_t block[] = {a, b, c};
  for (size_t k = 0; k < 3; k++) machine_set64(m, MACHINE_DATA + 8 * k, block[k]);
  assert_int_equal(semihost(m, operation, MACHINE_DATA).end, HOST_STUCK);
  return m->h->x[A0];
}

static void semihosting_console(void **state) {
  (void)state;
  machine *m = machine_create();
  const uint64_t name = MACHINE_DATA + 512, text = MACHINE_DATA + 600;
  strcpy((char *)arch_memory_at(m->memory, name, 4), ":tt");
  strcpy((char *)arch_memory_at(m->memory, text, 6), "world");
  uint64_t out = semihost_block(m, 1, name, 4, 3), error = semihost_block(m, 1, name, 8, 3);
  assert_int_equal(semihost_block(m, 1, text, 4, 5), UINT64_MAX);  // no such file
  assert_int_equal(semihost_block(m, 5, out, text, 5), 0);
  assert_int_equal(semihost_block(m, 5, error, text, 2), 0);
  assert_int_equal(semihost_block(m, 5, out, MACHINE_END - 1, 2), 2);  // nothing written
  assert_int_equal(semihost_block(m, 5, 77, text, 2), 2);
  assert_int_equal(semihost_block(m, 9, out, 0, 0), 1);
  assert_int_equal(semihost_block(m, 2, out, 0, 0), 0);
  semihost(m, 3, text);
  semihost(m, 4, text);
  assert_int_equal(semihost(m, 4, MACHINE_END).end, HOST_STUCK);
  assert_int_equal(m->h->x[A0], UINT64_MAX);
  semihost(m, 0x77, 0);
  assert_int_equal(m->h->x[A0], UINT64_MAX);
  semihost(m, 0x13, 0);
  assert_int_equal(m->h->x[A0], 38);
  assert_string_equal(m->text, "worldwworld");
  assert_string_equal(m->error_text, "wo");
  machine_destroy(m);
}

static void semihosting_exit(void **state) {
  (void)state;
  const struct {
    uint64_t operation, reason, code, expected;
  } cases[] = {{0x18, 0x20026, 0, 0}, {0x18, 0x20026, 5, 5}, {0x20, 0x20026, 9, 9}, {0x18, 0x20023, 0, 1}};
  for (size_t i = 0; i < 4; i++) {
    machine *m = machine_create();
    machine_set64(m, MACHINE_DATA, cases[i].reason);
    machine_set64(m, MACHINE_DATA + 8, cases[i].code);
    host_result r = semihost(m, cases[i].operation, MACHINE_DATA);
    assert_int_equal(r.end, HOST_EXITED);
    assert_int_equal(r.exit_code, cases[i].expected);
    assert_int_equal(r.instructions, 2);
    machine_destroy(m);
  }
  machine *m = machine_create();
  host_result r = semihost(m, 0x18, 4);  // no block there
  assert_int_equal(r.end, HOST_EXITED);
  assert_int_equal(r.exit_code, 1);
  machine_destroy(m);
}

static void plain_ebreak_traps(void **state) {
  (void)state;
  machine *m = machine_create();
  host_result r = MACHINE_RUN(m, SEMIHOST_BEFORE, EBREAK, NOP);
  assert_int_equal(r.end, HOST_TRAPPED);
  assert_int_equal(r.last_trap.cause, RV64_BREAKPOINT);
  assert_int_equal(r.last_trap.value, MACHINE_BASE + 4);
  machine_destroy(m);
}

// A port that records what it gets, takes 100 cycles and spoils the floating-point environment.
typedef struct {
  arch_command seen[4];
  uint64_t cycles[4];
  size_t count;
  unsigned fences;
  host_port_result answer;
  bool fence_ok;
  volatile double third;
} recorder;

static host_port_result take(void *context, arch_command *command, uint64_t *cycle, uint64_t *response) {
  recorder *r = context;
  assert_true(r->count < 4);
  r->cycles[r->count] = *cycle;
  r->seen[r->count++] = *command;
  if (r->answer != HOST_PORT_ILLEGAL) *cycle += 100;
  *response = UINT64_C(0xabcdef0123456789);
  r->third = 1.0 / (r->third + 3.0);
  assert_int_equal(fegetround(), FE_TONEAREST);
  return r->answer;
}

static bool wait_idle(void *context, uint64_t *cycle) {
  recorder *r = context;
  r->fences++;
  *cycle += 1000;
  return r->fence_ok;
}

static machine *with_port(recorder *r, host_port_result answer, bool fence_ok) {
  machine *m = machine_create();
  *r = (recorder){.answer = answer, .fence_ok = fence_ok};
  m->config.port = (host_port){.context = r, .command = take, .fence = wait_idle};
  host *h = machine_host(m);
  h->x[A0] = 111;
  h->x[A1] = 222;
  return m;
}

#define SEND type_r(CUSTOM, 3, 0x55, 0, A0, A1)
#define ASK type_r(CUSTOM, 7, 0x2a, 12, A1, A0)

static void commands_reach_the_port(void **state) {
  (void)state;
  recorder r;
  machine *m = with_port(&r, HOST_PORT_DONE, true);
  host *h = machine_host(m);
  h->x[13] = RV64_STATUS_FS;
  host_result end = MACHINE_RUN(m, csr_op(CSRRS, 0, CSR_MSTATUS, 13), SEND, ASK, csr_op(CSRRS, 14, CSR_CYCLE, 0), FENCE,
                                csr_op(CSRRS, 15, CSR_CYCLE, 0), csr_op(CSRRS, 16, CSR_FFLAGS, 0), WFI);
  assert_int_equal(end.end, HOST_STUCK);
  assert_int_equal(r.count, 2);
  assert_int_equal(r.fences, 1);
  const arch_command *a = &r.seen[0], *b = &r.seen[1];
  assert_true(a->funct == 0x55 && a->rs1 == 111 && a->rs2 == 222 && !a->returns && a->index == 0);
  assert_true(b->funct == 0x2a && b->rs1 == 222 && b->rs2 == 111 && b->returns && b->index == 1);
  assert_int_equal(a->pc, MACHINE_BASE + 4);
  assert_int_equal(b->pc, MACHINE_BASE + 8);
  assert_int_equal(r.cycles[0], 1);
  assert_int_equal(r.cycles[1], 102);
  assert_int_equal(h->x[12], UINT64_C(0xabcdef0123456789));
  assert_int_equal(h->x[14], 203);
  assert_int_equal(h->x[15], 1205);
  assert_int_equal(h->x[16], 0);  // the port's inexact division is not the program's
  assert_int_equal(end.instructions, 7);
  assert_int_equal(end.cycles, 7 + 200 + 1000);
  machine_destroy(m);
}

static void commands_can_be_refused(void **state) {
  (void)state;
  recorder r;
  machine *m = with_port(&r, HOST_PORT_ILLEGAL, true);
  host_result end = MACHINE_RUN(m, NOP, ASK);
  assert_int_equal(end.end, HOST_TRAPPED);
  assert_int_equal(end.last_trap.cause, RV64_ILLEGAL);
  assert_int_equal(end.last_trap.value, ASK);
  assert_int_equal(m->h->x[12], 0);
  machine_destroy(m);

  m = with_port(&r, HOST_PORT_FAULT, true);
  end = MACHINE_RUN(m, NOP, SEND);
  assert_int_equal(end.end, HOST_PORT_STOPPED);
  assert_int_equal(end.pc, MACHINE_BASE + 4);
  assert_int_equal(end.instructions, 1);
  machine_destroy(m);

  m = with_port(&r, HOST_PORT_DONE, false);
  end = MACHINE_RUN(m, SEND, FENCE);
  assert_int_equal(end.end, HOST_PORT_STOPPED);
  assert_int_equal(end.pc, MACHINE_BASE + 4);
  machine_destroy(m);
}

static void other_forms_are_illegal(void **state) {
  (void)state;
  for (uint32_t f3 = 0; f3 < 8; f3++) {
    recorder r;
    machine *m = with_port(&r, HOST_PORT_DONE, true);
    host_result end = MACHINE_RUN(m, type_r(CUSTOM, f3, 1, 12, A0, A1), WFI);
    bool legal = f3 == 3 || f3 == 7;
    assert_int_equal(end.end, legal ? HOST_STUCK : HOST_TRAPPED);
    assert_int_equal(r.count, legal ? 1 : 0);
    assert_int_equal(m->h->x[12] != 0, f3 == 7);
    machine_destroy(m);
  }
  machine *m = machine_create();
  assert_int_equal(MACHINE_RUN(m, SEND).last_trap.cause, RV64_ILLEGAL);  // no port
  machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(odd_is_exit),
      cmocka_unit_test(system_calls),
      cmocka_unit_test(nonsense_is_a_store_fault),
      cmocka_unit_test(characters),
      cmocka_unit_test(no_tohost),
      cmocka_unit_test(semihosting_console),
      cmocka_unit_test(semihosting_exit),
      cmocka_unit_test(plain_ebreak_traps),
      cmocka_unit_test(commands_reach_the_port),
      cmocka_unit_test(commands_can_be_refused),
      cmocka_unit_test(other_forms_are_illegal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
