// SPDX-License-Identifier: Apache-2.0
// What block_verify accepts and what it says about the rest. Bad programs are good ones with one line changed.
#include "base/test.h"
#include "compiler/block/block.h"

// 10 x 12 x 8 in blocks of 4 x 8 x 4, rows split in 2 x 2 of 3; images apart by a base.
static const char *const good[] = {
    "program good",
    "tensor a i8[160] read",
    "tensor b i8[96] read",
    "tensor c i8[240] write",
    "tensor d i32[12] read",
    "loop i 2 parallel dim N",
    "loop m 2 parallel dim P",
    "loop m_in 2 parallel dim P split m limit 3",
    "loop n 2 parallel dim K",
    "loop k 2 dim C",
    "buffer at i8[4, 4]",
    "buffer bt i8[8, 8]",
    "buffer sum i32[4, 8]",
    "buffer out i8[4, 8]",
    "buffer f f32[4, 8]",
    "for i {",
    "for m {",
    "for m_in {",
    "for n {",
    "for k {",
    "load bt[k*4:4, 0:8] = b[k*4:4 of 8 stride 12, n*8:8 of 12 stride 1]",
    "}",
    "load sum = d[0:4 of 4 stride 0, n*8:8 of 12 stride 1]",
    "for k {",
    "load at = a[i*80; m*8+m_in*4:4 of 10 stride 8, k*4:4 of 8 stride 1]",
    "dot sum += at * bt[k*4:4, 0:8]",
    "}",
    "scale f = sum, 0.5",
    "to_i8 out = f",
    "store c[i*120; m*8+m_in*4:4 of 10 stride 12, n*8:8 of 12 stride 1] = out",
    "}",
    "}",
    "}",
    "}",
};
enum { LINES = sizeof good / sizeof *good };

static bool verify(const char *text, char **messages) {
  size_t length = 0;
  FILE *out = open_memstream(messages, &length);
  wf_diag diag = wf_diag_to(out);
  block_program *program = block_parse("f", text, strlen(text), &diag);
  bool ok = program != NULL && block_verify(program, &diag);
  assert_int_equal(ok, diag.errors == 0);
  block_destroy(program);
  fclose(out);
  return ok;
}

// The good program with `line` (counted from 1; 0: none) replaced.
static void changed(char *text, size_t room, int line, const char *by) {
  size_t length = 0;
  for (int l = 0; l < LINES; l++)
    length += (size_t)snprintf(text + length, room - length, "%s\n", l + 1 == line ? by : good[l]);
}

static void good_programs_pass(void **state) {
  (void)state;
  char text[4096], *messages = NULL;
  changed(text, sizeof text, 0, "");
  if (!verify(text, &messages)) fail_msg("%s", messages);
  free(messages);
}

static const struct {
  int line;
  const char *by, *message;
} bad[] = {
    {8, "loop m_in 2 parallel dim P split m limit 5", "loop 'm_in' of 2 in 'm' of 2 cannot have the limit 5"},
    {8, "loop m_in 2 parallel dim P split m limit 2", "cannot have the limit 2"},
    {16, "for m {", "f:17:1: error: loop 'm' inside of itself"},
    {17, "for k {", "f:18:1: error: loop 'm_in' is not inside of 'm'"},
    {4, "tensor c i8[239] write", "f:30:1: error: elements 0 to 239 of 'c', which has 239"},
    {4, "tensor c i8[240] read", "f:30:1: error: stores to 'c', which is not written"},
    {2, "tensor a i8[160]", "f:25:1: error: loads from 'a', which is not read"},
    {4, "tensor c i32[240] write", "f:30:1: error: a block of i8 does not leave as i32"},
    {11, "buffer at i32[4, 4]", "f:26:1: error: a product is i32 = i8 * i8"},
    {12, "buffer bt i8[7, 8]", "f:21:1: error: elements 0 to 7 in dimension 0 of 'bt', which has 7"},
    {13, "buffer sum i32[4, 9]", "f:26:1: error: a product of 4 x 4 and 4 x 8 is not 4 x 9"},
    {11, "buffer at i8[4, 4] acc", "buffer 'at' has a type that its memory does not hold"},
    {21, "load bt[k*4:4, 0:8] = b[k*4:4 of 8 stride 12, m*8:4 of 12 stride 1]",
     "f:21:1: error: 'b' and 'bt' differ in rank or size"},
    {21, "copy bt[0:4, 0:8] = 0", "f:26:1: error: reads elements of 'bt' that may not be written here"},
    {23, "", "f:26:1: error: reads elements of 'sum' that may not be written here"},
    {23, "load sum = d[0:4 of 4 stride 0, k*8:8 of 12 stride 1]", "f:23:1: error: uses loop 'k' outside of it"},
    {23, "load sum = d[0:4 of 4 stride 0, n*8:8 of 12 stride 1] scale 2", "f:23:1: error: only i8 is scaled"},
    {23, "load sum = d[0:4 of 4 stride 0, n*8:8 of 12 stride 1] sum_over k",
     "f:23:1: error: sums over a loop that is not around it"},
    {26, "dot sum += at * bt[k*4:4, 0:8] sum_over k", "f:26:1: error: accumulates, so that no iteration can overwrite"},
    {26, "dot sum = at * bt[k*4:4, 0:8] sum_over n",
     "f:26:1: error: needs the first iteration of 'n', which is parallel"},
    {28, "to_i8 f = sum", "f:28:1: error: 'to_i8' does not take these types"},
    {28, "add sum = sum, 0.5", "f:28:1: error: 0.5 is no i32"},
    {28, "add sum = sum, sum[0:2, 0:8]", "f:28:1: error: 'sum' cannot be repeated to the size of 'sum'"},
    {29, "", "f:30:1: error: reads elements of 'out' that may not be written here"},
    {30, "store c[i*120; m*8:4 of 10 stride 12, n*8:8 of 12 stride 1] = out",
     "f:30:1: error: iterations of the parallel loop 'm_in' may store to elements of 'c' that others store to"},
    {30, "store c[i*100; m*8+m_in*4:4 of 10 stride 12, n*8:8 of 12 stride 1] = out",
     "iterations of the parallel loop 'i' may store"},
    {30, "store c[i*120; m*8+m_in*4:4 of 10 stride 11, n*8:8 of 12 stride 1] = out",
     "iterations of the parallel loop 'n' may store"},
    {30, "store c[i*120; m*8+m_in*4:4 of 10 stride 12, n*7:8 of 12 stride 1] = out",
     "iterations of the parallel loop 'n' may store"},
    {30, "store c[i*120; m*8+m_in*4:4 of 10 stride 12, n*8:8 of 12 stride 1] = sum relu scale 1 pool 2 stride 2",
     "f:30:1: error: the sizes of 'sum' do not fit the pooling"},
    {30, "store c[i*120; m*8+m_in*4:4 of 10 stride 12, n*8:8 of 12 stride 1] = sum scale 1 gate at scale 1",
     "f:30:1: error: a gate takes factors of i8, as many as leave"},
    {30, "store c[i*120; m*8+m_in*4:4 of 10 stride 12, n*8:8 of 12 stride 1] = out gate out scale 1",
     "f:30:1: error: a gate is for what leaves scaled, without pool and rows of the normaliser"},
};

static void bad_programs_are_refused(void **state) {
  (void)state;
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
    char text[4096], *messages = NULL;
    changed(text, sizeof text, bad[b].line, bad[b].by);
    bool ok = verify(text, &messages);
    if (ok || strstr(messages, bad[b].message) == NULL) fail_msg("'%s' gave: %s", bad[b].by, messages);
    free(messages);
  }
}

// Iterations of a parallel loop may add up in one buffer, and work on parts of their own of one, but not pass on
// values.
static void buffers_of_parallel_loops(void **state) {
  (void)state;
  const char *const head =
      "program p\ntensor t i8[8] read\ntensor u i32[8] write\nloop i 2 parallel\nloop j 2 parallel\nbuffer b i32[8]\n";
  const struct {
    const char *body;
    bool ok;
  } cases[] = {
      {"copy b = 0\nfor i {\nload b += t[0:8 of 8 stride 1]\n}\nstore u[0:8 of 8 stride 1] = b\n", true},
      {"copy b = 0\nfor i {\nload b[i*4:4] += t[i*4:4 of 8 stride 1]\nadd b[i*4:4] = b[i*4:4], 1\n}\n"
       "store u[0:8 of 8 stride 1] = b\n",
       true},
      {"for i {\nfor j {\nload b[i*4+j*2:2] = t[i*4+j*2:2 of 8 stride 1]\n}\n}\nstore u[0:8 of 8 stride 1] = b\n",
       true},
      {"copy b = 0\nfor i {\nload b += t[0:8 of 8 stride 1]\nadd b = b, 1\n}\n", false},
      {"for i {\nload b = t[0:8 of 8 stride 1]\n}\nstore u[0:8 of 8 stride 1] = b\n", false},
      {"copy b = 0\nfor i {\nload b[i*3:4] = t[i*4:4 of 8 stride 1]\nadd b[i*3:4] = b[i*3:4], 1\n}\n"
       "store u[0:8 of 8 stride 1] = b\n",
       false},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[1024], *messages = NULL;
    snprintf(text, sizeof text, "%s%s", head, cases[c].body);
    if (verify(text, &messages) != cases[c].ok) fail_msg("%s\n%s", cases[c].body, messages);
    free(messages);
  }
}

// Groups side by side: the base moves by less than a row, and the rows leave room for all groups, or do not.
static void bases_between_rows(void **state) {
  (void)state;
  static const char text[] =
      "program p\ntensor y i8[60] write\nloop g 3 parallel\nloop k 2 parallel\nbuffer v i8[4, 4]\n"
      "for g {\nfor k {\ncopy v = 0\n"
      "store y[g*5; 0:4 of 4 stride %d, k*4:4 of 5 stride 1] = v\n}\n}\n";
  for (int stride = 14; stride <= 15; stride++) {
    char program[400], *messages = NULL;
    snprintf(program, sizeof program, text, stride);
    assert_int_equal(verify(program, &messages), stride == 15);
    free(messages);
  }
}

// The pair of a split counts up to its limit and not further.
static void split_loops_end_at_their_limit(void **state) {
  (void)state;
  for (int rows = 11; rows <= 12; rows++) {
    char text[512], *messages = NULL;
    snprintf(text, sizeof text,
             "program p\nloop m 2\nloop m_in 2 split m limit 3\nbuffer b i32[%d, 2]\n"
             "for m {\nfor m_in {\ncopy b[m*8+m_in*4:4, 0:2] = 0\n}\n}\nadd b = b, 1\n",
             rows);
    if (verify(text, &messages) != (rows == 12)) fail_msg("%d rows: %s", rows, messages);
    free(messages);
  }
}

// What one iteration stores and the one before or behind it loads.
static void neighbours_are_seen(void **state) {
  (void)state;
  static const struct {
    const char *load;
    bool ok;
  } cases[] = {
      {"u[i*4:4 of 16 stride 1]", true}, {"u[i*4+4:4 of 16 stride 1]", false}, {"u[i*4-1:4 of 16 stride 1]", false}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[512], *messages = NULL;
    snprintf(text, sizeof text,
             "program p\ntensor u i32[16] read write\nloop i 4 parallel\nbuffer b i32[4]\n"
             "for i {\nload b = %s\nstore u[i*4:4 of 16 stride 1] = b\n}\n",
             cases[c].load);
    if (verify(text, &messages) != cases[c].ok) fail_msg("%s: %s", cases[c].load, messages);
    free(messages);
  }
}

// Columns that count: some of the rows of softmax, at least one of each.
static void ragged_rows(void **state) {
  (void)state;
  static const struct {
    const char *columns, *message;
  } cases[] = {
      {"columns 6", NULL},
      {"columns 8 below i*4+1 step 1", NULL},
      {"columns 8 below i*-4+8 step -1", NULL},
      {"columns 8 below i*-4+7 step -1", "a row of which 0 columns count has no softmax"},
      {"columns 8 below i*4 step 1", "a row of which 0 columns count has no softmax"},
      {"columns 9", "columns that count are some of the rows of softmax"},
      {"columns 8 below j+1", "uses loop 'j' outside of it"},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[512], *messages = NULL;
    snprintf(text, sizeof text,
             "program p\ntensor u i32[64] read\ntensor y i8[64] write\nloop i 2 parallel\nloop j 2\n"
             "buffer b i32[4, 8]\nfor i {\nload b = u[i*4:4 of 8 stride 8, 0:8 of 8 stride 1]\n"
             "store y[i*4:4 of 8 stride 8, 0:8 of 8 stride 1] = b softmax 34 600 17 3855 %s\n}\n",
             cases[c].columns);
    const bool fine = verify(text, &messages);
    if (fine != (cases[c].message == NULL) || (!fine && strstr(messages, cases[c].message) == NULL))
      fail_msg("%s: %s", cases[c].columns, messages);
    free(messages);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_programs_pass),
      cmocka_unit_test(bases_between_rows),
      cmocka_unit_test(bad_programs_are_refused),
      cmocka_unit_test(buffers_of_parallel_loops),
      cmocka_unit_test(split_loops_end_at_their_limit),
      cmocka_unit_test(neighbours_are_seen),
      cmocka_unit_test(ragged_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
