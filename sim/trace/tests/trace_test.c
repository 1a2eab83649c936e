// SPDX-License-Identifier: Apache-2.0
// Traces: the footprint against a plain array, every kind of damaged trace, and writer -> reader round trips.
#include "sim/trace/trace.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/test.h"
#include "sim/trace/footprint.h"

enum { SPAN = 3 * 4096 };

typedef struct model {
  uint8_t bytes[SPAN];
  bool expected[SPAN];  // bytes that this read must report
  size_t reported;
  uint64_t base;
} model;

static void note_changed(void *context, uint64_t address, const uint8_t *bytes, size_t length) {
  model *m = context;
  for (size_t i = 0; i < length; i++) {
    size_t at = (size_t)(address - m->base) + i;
    assert_true(m->expected[at]);
    m->bytes[at] = bytes[i];
    m->expected[at] = false;
    m->reported++;
  }
}

static void random_access(sim_footprint *print, model *m, uint8_t *memory) {
  size_t at = (size_t)rand() % SPAN, length = (size_t)rand() % 300;
  if (length > SPAN - at) length = SPAN - at;
  if (rand() % 2) {
    for (size_t i = 0; i < length; i++) memory[at + i] = m->bytes[at + i] = (uint8_t)rand();
    sim_footprint_write(print, m->base + at, memory + at, length);
    return;
  }
  if (length != 0) memory[at + (size_t)rand() % length] = (uint8_t)rand();
  size_t changes = 0;
  for (size_t i = 0; i < length; i++) changes += m->expected[at + i] = memory[at + i] != m->bytes[at + i];
  m->reported = 0;
  sim_footprint_read(print, m->base + at, memory + at, length, note_changed, m);
  assert_int_equal(m->reported, changes);
}

static void footprint_reports_exactly_the_changes(void **state) {
  (void)state;
  srand(1);
  model *m = WF_NEW(model);
  m->base = 0x80000f00;
  uint8_t *memory = WF_NEW_ARRAY(SPAN, uint8_t);
  sim_footprint *print = sim_footprint_create();
  for (int i = 0; i < 5000; i++) random_access(print, m, memory);
  sim_footprint_destroy(print);
  wf_free(memory);
  wf_free(m);
}

static void digest_ignores_order_and_overwrites(void **state) {
  (void)state;
  sim_footprint *a = sim_footprint_create(), *b = sim_footprint_create();
  uint8_t bytes[64];
  for (unsigned page = 0; page < 1000; page++) {
    memset(bytes, (int)page, sizeof bytes);
    sim_footprint_write(a, page * UINT64_C(0x10000), bytes, sizeof bytes);
  }
  for (unsigned page = 1000; page-- > 0;) {
    memset(bytes, 0xee, sizeof bytes);
    sim_footprint_write(b, page * UINT64_C(0x10000), bytes, sizeof bytes);
    memset(bytes, (int)page, sizeof bytes);
    sim_footprint_write(b, page * UINT64_C(0x10000), bytes, 17);
    sim_footprint_write(b, page * UINT64_C(0x10000) + 17, bytes + 17, sizeof bytes - 17);
  }
  assert_int_equal(sim_footprint_digest(a), sim_footprint_digest(b));
  assert_int_equal(sim_footprint_written_bytes(a), 64000);
  uint8_t one = 0x55;
  sim_footprint_write(b, 5, &one, 1);
  assert_int_not_equal(sim_footprint_digest(a), sim_footprint_digest(b));
  sim_footprint_destroy(a);
  sim_footprint_destroy(b);
}

// ---- reader

typedef struct seen {
  bool recorded;
  unsigned headers, data, commands, fences, ends;
  unsigned hart[SIM_TRACE_LINE_WRITE + 1];
  uint64_t bytes, cycle, address;
} seen;

static bool see_header(void *c, const sim_trace_header *h, wf_location w) {
  (void)w;
  assert_true(h->revision == 1 || h->revision == 2);
  ((seen *)c)->headers++;
  return true;
}
static bool see_data(void *c, uint64_t a, const uint8_t *b, size_t n, wf_location w) {
  (void)a, (void)b, (void)w;
  ((seen *)c)->data++;
  ((seen *)c)->bytes += n;
  return true;
}
static bool see_command(void *c, const arch_command *command, wf_location w) {
  (void)w;
  assert_int_equal(command->index, ((seen *)c)->commands);
  ((seen *)c)->commands++;
  return true;
}
static bool see_fence(void *c, wf_location w) {
  (void)w;
  ((seen *)c)->fences++;
  return true;
}
static void see_time(void *c, uint64_t cycle) { ((seen *)c)->cycle = cycle; }
static bool see_hart(void *c, sim_trace_hart what, uint64_t address, wf_location w) {
  (void)w;
  seen *s = c;
  s->hart[what]++;
  if (what != SIM_TRACE_FULL) s->address = address;
  return true;
}
static bool see_end(void *c, const sim_trace_end *e, wf_location w) {
  (void)w;
  ((seen *)c)->ends++;
  ((seen *)c)->recorded = e->recorded;
  return true;
}

// Reads the text; returns the message ("" when good), to be freed.
static char *read_text(const char *text, size_t length, seen *s) {
  *s = (seen){0};
  const sim_trace_sink sink = {s, see_header, see_data, see_command, see_fence, see_end, see_time, see_hart};
  char *message = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&message, &size);
  FILE *in = fmemopen((void *)(uintptr_t)text, length, "r");
  wf_diag diag = wf_diag_to(out);
  bool good = sim_trace_read(in, "t", &sink, &diag);
  assert_int_equal(good, diag.errors == 0);
  fclose(in);
  fclose(out);
  return message;
}

#define HEAD "weft-trace 1\narray a 0123456789abcdef\nisa 1\n"
#define TIMED "weft-trace 2\narray a 0123456789abcdef\nisa 1\n"
#define END(n) "end commands=" #n " written=0 digest=cbf29ce484222325\n"
#define MVIN "mvin dram=0x80000000 local=sp:0x0 cols=16 rows=16\n"

static void reader_takes_a_good_trace(void **state) {
  (void)state;
  static const char text[] = "# comment\n" HEAD "\n  data 0x80000000 00ff  # two bytes\r\n" MVIN "fence\n" END(1);
  seen s;
  char *message = read_text(text, sizeof text - 1, &s);
  assert_string_equal(message, "");
  assert_true(s.headers == 1 && s.data == 1 && s.bytes == 2 && s.commands == 1 && s.fences == 1 && s.ends == 1);
  assert_true(s.recorded);
  free(message);
}

static void reader_takes_a_trace_without_result(void **state) {
  (void)state;
  static const char text[] = HEAD MVIN "end commands=1 unrecorded\n";
  seen s;
  char *message = read_text(text, sizeof text - 1, &s);
  assert_string_equal(message, "");
  assert_true(s.ends == 1 && !s.recorded);
  free(message);
}

static void reader_tells_times(void **state) {
  (void)state;
  static const char text[] = TIMED "data 0x80000000 00ff\n@7 line read 0x80000040\n@9 full\n@12 " MVIN
                                   "@15 fence\n@20 line write 0x80000080\n" END(1);
  seen s;
  char *message = read_text(text, sizeof text - 1, &s);
  assert_string_equal(message, "");
  assert_true(s.data == 1 && s.commands == 1 && s.fences == 1 && s.cycle == 20);
  assert_true(s.hart[SIM_TRACE_FULL] == 1 && s.hart[SIM_TRACE_LINE_READ] == 1 && s.hart[SIM_TRACE_LINE_WRITE] == 1);
  assert_int_equal(s.address, 0x80000080);
  free(message);
}

typedef struct bad {
  const char *text, *message;
} bad;

static void reader_locates_every_error(void **state) {
  (void)state;
  static const bad cases[] = {
      {"\n", "t:2: error: empty file\n"},
      {"hello\n", "t:1: error: not a weft trace: the first line is not `weft-trace 1` or `weft-trace 2`\n"},
      {"weft-trace 3\n", "t:1: error: unknown trace version\n"},
      {"weft-trace 1\nisa 1\n", "t:2: error: expected `array NAME HASH`\n"},
      {"weft-trace 1\narray a 0123456789abcde\n", "t:2: error: expected the array's hash\n"},
      {"weft-trace 1\narray a xyz\n", "t:2: error: expected the array's hash\n"},
      {"weft-trace 1\narray a 0123456789abcdef\nisa 3\n", "t:3: error: ISA revision is 1 or 2\n"},
      {HEAD "data 0x80000000 0g\n", "t:4: error: data: expected pairs of hexadecimal digits\n"},
      {HEAD "data 0x80000000 012\n", "t:4: error: data: expected pairs of hexadecimal digits\n"},
      {HEAD "data 0x80000000\n", "t:4: error: data: no bytes\n"},
      {HEAD "data zz 00\n", "t:4: error: data: expected an address\n"},
      {HEAD "data 0x10000000000000000 00\n", "t:4: error: data: expected an address\n"},
      {HEAD "fence 1\n", "t:4: error: fence takes no operands\n"},
      {HEAD MVIN, "t:5: error: the trace ends without its `end` line\n"},
      {HEAD MVIN END(2), "t:5: error: the trace announces 2 commands but has 1\n"},
      {HEAD "end commands=0\n",
       "t:4: error: expected `end commands=N written=BYTES digest=HEX` or `end commands=N unrecorded`\n"},
      {HEAD "end commands=0 unrecorded digest=0\n",
       "t:4: error: expected `end commands=N written=BYTES digest=HEX` or `end commands=N unrecorded`\n"},
      {HEAD END(0) "fence\n", "t:5: error: text after the `end` line\n"},
      {HEAD "@5 fence\n", "t:4: error: only a trace of version 2 has cycles\n"},
      {TIMED "fence\n", "t:4: error: a trace of version 2 gives the cycle: expected `@CYCLE`\n"},
      {TIMED "@ fence\n", "t:4: error: expected a cycle below 2^48 and what happened in it behind `@`\n"},
      {TIMED "@12\n", "t:4: error: expected a cycle below 2^48 and what happened in it behind `@`\n"},
      {TIMED "@281474976710656 fence\n",
       "t:4: error: expected a cycle below 2^48 and what happened in it behind `@`\n"},
      {TIMED "@5 full 1\n", "t:4: error: full takes no operands\n"},
      {TIMED "@5 line 0x80000000\n", "t:4: error: expected `line read ADDRESS` or `line write ADDRESS`\n"},
      {TIMED "@5 line read\n", "t:4: error: expected `line read ADDRESS` or `line write ADDRESS`\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    seen s;
    char *message = read_text(cases[i].text, strlen(cases[i].text), &s);
    assert_string_equal(message, cases[i].message);
    free(message);
  }
}

static void reader_points_at_a_bad_command(void **state) {
  (void)state;
  seen s;
  static const char unknown[] = HEAD "jump x=1\n";
  char *message = read_text(unknown, sizeof unknown - 1, &s);
  assert_non_null(strstr(message, "t:4:1: error: "));
  free(message);
  static const char timed[] = TIMED "@100 mvin dram=0x80000000 nosuch=1\n";
  message = read_text(timed, sizeof timed - 1, &s);
  assert_non_null(strstr(message, "t:4:27: error: "));
  free(message);
  static const char field[] = HEAD "mvin dram=0x80000000 nosuch=1\n";
  message = read_text(field, sizeof field - 1, &s);
  assert_non_null(strstr(message, "t:4:22: error: "));
  free(message);
}

static void reader_survives_cuts_and_long_lines(void **state) {
  (void)state;
  static const char text[] = HEAD "data 0x80000000 00ff\n" MVIN "fence\n" END(1);
  seen s;
  for (size_t length = 1; length < sizeof text - 2; length++) {
    char *message = read_text(text, length, &s);
    assert_string_not_equal(message, "");
    free(message);
  }
  char *longer = wf_alloc(20000, 1);
  memset(longer, 'a', 20000);
  char *message = read_text(longer, 20000, &s);
  assert_string_equal(message, "t:1: error: line too long\n");
  free(message);
  wf_free(longer);
}

// ---- writer

static void writer_and_reader_agree(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  arch_memory *memory = arch_memory_create(1 << 20);
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  sim_trace_writer *writer = sim_trace_writer_open(out, &array, memory);
  uint8_t bytes[200];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i + 1);
  memcpy(arch_memory_at(memory, ARCH_MEMORY_BASE, sizeof bytes), bytes, sizeof bytes);
  assert_true(arch_memory_read(memory, ARCH_MEMORY_BASE, bytes, sizeof bytes));
  assert_true(arch_memory_write(memory, ARCH_MEMORY_BASE + 4096, bytes, 10));
  assert_false(arch_memory_write(memory, ARCH_MEMORY_BASE + (1 << 20) - 5, bytes, 10));
  const arch_command command = {.insn = isa_insn_at(ISA_MVIN),
                                .funct = ISA_FUNCT_MVIN,
                                .rs1 = ARCH_MEMORY_BASE,
                                .rs2 = UINT64_C(0x0010001000000000)};
  sim_trace_writer_command(writer, &command);
  sim_trace_writer_fence(writer);
  assert_true(sim_trace_writer_close(writer));
  fclose(out);
  seen s;
  char *message = read_text(text, size, &s);
  assert_string_equal(message, "");
  assert_true(s.bytes == 200 && s.data == 4 && s.commands == 1 && s.fences == 1 && s.ends == 1);
  free(message);
  free(text);
  arch_memory_destroy(memory);
}

// What the accelerator reads after its command came goes before it.
static void writer_with_times_puts_data_first(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  arch_memory *memory = arch_memory_create(1 << 20);
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  sim_trace_writer *writer = sim_trace_writer_open_timed(out, &array, memory);
  const arch_command command = {
      .insn = isa_insn_at(ISA_MVIN), .funct = ISA_FUNCT_MVIN, .rs1 = ARCH_MEMORY_BASE, .rs2 = UINT64_C(1) << 48};
  sim_trace_writer_time(writer, 33);
  sim_trace_writer_command(writer, &command);
  uint8_t byte = 7;
  memcpy(arch_memory_at(memory, ARCH_MEMORY_BASE, 1), &byte, 1);
  assert_true(arch_memory_read(memory, ARCH_MEMORY_BASE, &byte, 1));
  sim_trace_writer_time(writer, 35);
  sim_trace_writer_fence(writer);
  sim_trace_writer_time(writer, 36);
  sim_trace_writer_hart(writer, SIM_TRACE_LINE_READ, ARCH_MEMORY_BASE);
  assert_true(sim_trace_writer_close(writer));
  fclose(out);
  const char *data = strstr(text, "data 0x80000000 07\n"), *mvin = strstr(text, "@33 mvin ");
  assert_true(data != NULL && mvin != NULL && data < mvin);
  assert_non_null(strstr(mvin, "\n@35 fence\n@36 line read 0x80000000\nend commands=1 "));
  seen s;
  char *message = read_text(text, size, &s);
  assert_string_equal(message, "");
  free(message);
  free(text);
  arch_memory_destroy(memory);
}

// The host overwrites a result, and the accelerator reads that: the digest is still of what the accelerator wrote.
static void digest_is_of_the_accelerators_bytes(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  arch_memory *memory = arch_memory_create(1 << 20);
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  sim_trace_writer *writer = sim_trace_writer_open(out, &array, memory);
  uint8_t byte = 7;
  sim_footprint *written = sim_footprint_create();
  assert_true(arch_memory_write(memory, ARCH_MEMORY_BASE, &byte, 1));
  sim_footprint_write(written, ARCH_MEMORY_BASE, &byte, 1);
  *arch_memory_at(memory, ARCH_MEMORY_BASE, 1) = 9;
  assert_true(arch_memory_read(memory, ARCH_MEMORY_BASE, &byte, 1));
  assert_true(sim_trace_writer_close(writer));
  fclose(out);
  char expected[64];
  snprintf(expected, sizeof expected, "end commands=0 written=1 digest=%016" PRIx64 "\n",
           sim_footprint_digest(written));
  assert_non_null(strstr(text, expected));
  sim_footprint_destroy(written);
  free(text);
  arch_memory_destroy(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(footprint_reports_exactly_the_changes),
      cmocka_unit_test(digest_ignores_order_and_overwrites),
      cmocka_unit_test(reader_takes_a_good_trace),
      cmocka_unit_test(reader_takes_a_trace_without_result),
      cmocka_unit_test(reader_locates_every_error),
      cmocka_unit_test(reader_points_at_a_bad_command),
      cmocka_unit_test(reader_survives_cuts_and_long_lines),
      cmocka_unit_test(reader_tells_times),
      cmocka_unit_test(writer_with_times_puts_data_first),
      cmocka_unit_test(digest_is_of_the_accelerators_bytes),
      cmocka_unit_test(writer_and_reader_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
