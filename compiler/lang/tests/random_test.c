// SPDX-License-Identifier: Apache-2.0
// Random kernels: grids taken apart in several ways, nested loops, offsets that grow, chains of operations on blocks
// that are carried. The lowered program must be legal and agree with the oracle.
#include "base/test.h"
#include "compiler/lang/tests/kernels.h"

enum { TEXT_MAX = 8192, KERNELS = 400 };

typedef struct writer {
  char text[TEXT_MAX];
  size_t length;
  uint32_t random;
} writer;

static int choose(writer *w, int count) { return (int)(next_random(&w->random) % (uint32_t)count); }

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  w->length += (size_t)vsnprintf(w->text + w->length, TEXT_MAX - w->length, format, args);
  va_end(args);
  assert_true(w->length < TEXT_MAX);
}

// The program id as i (below `rows`) and j (below `columns`), in one of several orders.
static void put_ids(writer *w, int rows, int columns) {
  put(w, "  p = program_id(0)\n");
  switch (choose(w, 4)) {
    case 0:
      put(w, "  i = p // %d\n  j = p %% %d\n", columns, columns);
      break;
    case 1:
      put(w, "  i = p %% %d\n  j = p // %d\n", rows, rows);
      break;
    case 2:
      put(w, "  i = p // %d\n  j = (p + i) %% %d\n", columns, columns);
      break;  // swizzled
    default:
      put(w, "  i = %d - p %% %d\n  j = p // %d\n", rows - 1, rows, rows);
      break;
  }
}

static void put_offset(writer *w, int depth) {
  put(w, "%d + i * %d + j * %d + o", choose(w, 30) - 15, choose(w, 9), choose(w, 9));
  for (int d = 0; d < depth; d++) put(w, " + k%d * %d", d, choose(w, 7) - 3);
}

// A change of acc or of b, both int32 blocks.
static void put_operation(writer *w, const char *indent, int depth) {
  static const char *const operations[] = {
      "acc = acc + x",
      "acc = maximum(acc, x)",
      "acc = x - acc",
      "acc, b = b, acc",
      "acc -= minimum(b, 5)",
      "b = acc * 3",
      "acc = acc * x",
      "b = maximum(acc, b)",
      "b += x.to(int32) + acc",
      "acc = (acc * 0.5).to(int32)",
      "b = 7 - b",
      "acc += b",
      "t = acc\n%sacc = b\n%sb = t + x",
  };
  put(w, "%sx = load(make_block_ptr(x_ptr, (60,), (1,), (", indent);
  put_offset(w, depth);
  put(w, ",), (4,), (0,), steps=(%d,)), boundary_check=(0,))\n", 1 + choose(w, 3));
  const char *operation = operations[choose(w, sizeof operations / sizeof *operations)];
  put(w, "%s", indent);
  for (const char *c = operation; *c != 0; c++) {
    if (*c == '%') {
      put(w, "%s", indent);
      c++;
    } else {
      put(w, "%c", *c);
    }
  }
  put(w, "\n");
}

static void put_loops(writer *w, int depth, int deepest) {
  char indent[16];
  snprintf(indent, sizeof indent, "%*s", 2 + 2 * depth, "");
  put_operation(w, indent, depth);
  if (depth == deepest) return;
  const int first = choose(w, 5), step = 1 + choose(w, 3), trips = 1 + choose(w, 3);
  put(w, "%sfor k%d in %srange(%d, %d, %d):\n", indent, depth, choose(w, 3) == 0 ? "static_" : "", first,
      first + step * trips, step);
  put_loops(w, depth + 1, deepest);
  if (choose(w, 2) == 0) put(w, "%s  o += %d\n", indent, choose(w, 5) - 2);
  put_operation(w, indent, depth);
}

static void write_kernel(writer *w, int rows, int columns) {
  put(w, "from weft import *\n@jit\ndef k(x_ptr: int8, z_ptr: int32, M):\n");
  put_ids(w, rows, columns);
  put(w, "  o = %d\n  acc = full((4,), %d, int32)\n  b = acc%s\n", choose(w, 5), choose(w, 9),
      choose(w, 2) ? "" : " + 1");
  put_loops(w, 0, 1 + choose(w, 3));
  put(w, "  z = make_block_ptr(z_ptr, (%d,), (1,), ((i * %d + j) * 8,), (4,), (0,))\n", rows * columns * 8, columns);
  put(w, "  store(z, acc)\n  store(advance(z, (4,)), b)\n");
}

static void test_random_kernels(void **state) {
  (void)state;
  for (int i = 0; i < KERNELS; i++) {
    writer w = {.random = (uint32_t)i + 1};
    wf_diag diag = wf_diag_to(stderr);
    const int rows = 1 + choose(&w, 4), columns = 1 + choose(&w, 4);
    write_kernel(&w, rows, columns);
    lang_file *file = lang_parse("random.py", w.text, w.length, &diag);
    if (file == NULL) fail_msg("%s", w.text);
    kernel_case c = open_instance(file, "k", "M=1", rows * columns, (uint32_t)i);
    if (!block_verify(c.program, &diag)) fail_msg("%s", w.text);
    if (!agrees(&c)) fail_msg("%s", w.text);
    close_kernel(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
