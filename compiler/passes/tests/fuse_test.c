// SPDX-License-Identifier: Apache-2.0
// What fuse makes of a chain, as text, and what it refuses, by place and reason.
#include "base/test.h"
#include "compiler/block/random.h"
#include "compiler/passes/passes.h"

// 8 x 6 x 10 in blocks of 4 x 6 x 5; the statements before, in and behind the loop over k are the test's.
static const char head[] =
    "program test\n"
    "tensor a i8[80] read\ntensor b i8[60] read\ntensor bias i32[6] read\ntensor c i8[48] read write\n"
    "tensor d i32[48] write\nloop m 2 parallel dim P\nloop k 2 dim C\nloop j 2 dim R\n"
    "buffer at i8[4, 5]\nbuffer bt i8[5, 6]\nbuffer acc i32[4, 6]\nbuffer t i32[4, 6]\nbuffer v i32[4, 6]\n"
    "buffer row i32[1, 6]\nbuffer f f32[4, 6]\nbuffer r i8[4, 6]\nbuffer y i8[4, 6]\n"
    "for m {\n";
enum { HEAD_LINES = 19 };

#define LOADS                                                 \
  "load at = a[m*4:4 of 8 stride 10, k*5:5 of 10 stride 1]\n" \
  "load bt = b[k*5:5 of 10 stride 6, 0:6 of 6 stride 1]\n"
#define SUM "copy acc = 0\nfor k {\n" LOADS "dot acc += at * bt\n}\n"
#define C "c[m*4:4 of 8 stride 6, 0:6 of 6 stride 1]"
#define D "d[m*4:4 of 8 stride 6, 0:6 of 6 stride 1]"
#define NARROW "scale f = acc, 0.5\nto_i8 y = f\nstore " C " = y\n"

static block_program *program_of(const char *body) {
  char text[4096];
  wf_diag diag = wf_diag_to(stderr);
  snprintf(text, sizeof text, "%s%s}\n", head, body);
  block_program *program = block_parse("t", text, strlen(text), &diag);
  assert_non_null(program);
  if (!block_verify(program, &diag)) fail_msg("%s", text);
  return program;
}

static char *body_of(const block_program *program) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  block_print(program, out);
  fclose(out);
  char *body = strdup(strstr(text, "for m {"));
  free(text);
  return body;
}

// What a body becomes; the loop over m and indentation are left out.
static const struct {
  const char *body, *fused;
} chains[] = {
    {SUM "store " D " = acc\n", "for k {  # 2\n" LOADS "dot acc = at * bt sum_over k\n}\nstore " D " = acc\n"},
    {SUM NARROW, "for k {  # 2\n" LOADS "dot acc = at * bt sum_over k\n}\nstore " C " = acc scale 0.5\n"},
    // A bias behind the loop, and one as the first value.
    {SUM "load row = bias[0:1 of 1 stride 0, 0:6 of 6 stride 1]\nadd v = acc, row\nstore " D " = v\n",
     "load acc = bias[0:4 of 4 stride 0, 0:6 of 6 stride 1]\nfor k {  # 2\n" LOADS "dot acc += at * bt\n}\nstore " D
     " = acc\n"},
    {"load row = bias[0:1 of 1 stride 0, 0:6 of 6 stride 1]\ncopy acc = row\nfor k {\n" LOADS
     "dot acc += at * bt\n}\nstore " D " = acc\n",
     "load acc = bias[0:4 of 4 stride 0, 0:6 of 6 stride 1]\nfor k {  # 2\n" LOADS "dot acc += at * bt\n}\nstore " D
     " = acc\n"},
    // A residual from the tensor that the results go to.
    {SUM "load r = " C "\nscale f = r, 0.25\nto_i8 r = f\nto_i32 t = r\nadd acc = t, acc\n" NARROW,
     "load acc = " C " scale 0.25\nfor k {  # 2\n" LOADS "dot acc += at * bt\n}\nstore " C " = acc scale 0.5\n"},
    // Activation before or after the scale; clamps that saturation does.
    {SUM "max acc = acc, 0\n" NARROW,
     "for k {  # 2\n" LOADS "dot acc = at * bt sum_over k\n}\nstore " C " = acc relu scale 0.5\n"},
    {SUM "scale f = acc, 0.5\nmin f = f, 127\nmax f = f, 0\nto_i8 y = f\nmax y = y, -128\nstore " C " = y\n",
     "for k {  # 2\n" LOADS "dot acc = at * bt sum_over k\n}\nstore " C " = acc relu scale 0.5\n"},
    {SUM "max acc = acc, -128\nmin acc = 127, acc\nto_i8 y = acc\nstore " C " = y\n",
     "for k {  # 2\n" LOADS "dot acc = at * bt sum_over k\n}\nstore " C " = acc scale 1\n"},
    {SUM "scale f = acc, 1\nmul f = f, 0.5\nto_i8 y = f\nstore " C " = y\n",
     "for k {  # 2\n" LOADS "dot acc = at * bt sum_over k\n}\nstore " C " = acc scale 0.5\n"},
    // One sum, stored twice.
    {SUM "store " D " = acc\n" NARROW,
     "for k {  # 2\n" LOADS "dot acc = at * bt sum_over k\n}\nstore " D " = acc\nstore " C " = acc scale 0.5\n"},
    // Two products in one sum; nothing but loads; a copy.
    {"copy acc = 0\nfor k {\n" LOADS "dot t = at * bt\nadd acc = acc, t\n" LOADS
     "dot v = at * bt\nadd acc = v, acc\n}\nstore " D " = acc\n",
     "for k {  # 2\n" LOADS "dot t = at * bt sum_over k\n" LOADS "dot t += at * bt\n}\nstore " D " = t\n"},
    {"load r = " C "\nmax y = r, 0\nstore " C " = y\n", "load sum = " C "\nstore " C " = sum relu scale 1\n"},
    {"load r = " C "\ncopy y = r\nstore " C " = y\n", "load r = " C "\nstore " C " = r\n"},
};

static void strip(char *text) {
  char *to = text;
  bool start = true;
  for (; *text != '\0'; text++) {
    if (start && *text == ' ') continue;
    start = *text == '\n';
    *to++ = *text;
  }
  *to = '\0';
}

static void becomes(const char *body, const char *fused, const hw_array *array, uint64_t seed) {
  wf_diag diag = wf_diag_to(stderr);
  char expected[2048];
  snprintf(expected, sizeof expected, "for m {  # 2 parallel\n%s}\n", fused);
  block_program *program = program_of(body);
  void **before = block_random_tensors(program, seed), **after = block_random_tensors(program, seed);
  assert_true(block_run(program, before, &diag));
  assert_true(pass_fuse(program, NULL, array, &diag));
  assert_true(block_verify(program, &diag));
  char *text = body_of(program);
  strip(text);
  assert_string_equal(text, expected);
  assert_true(block_run(program, after, &diag));
  assert_memory_equal(before[3], after[3], 48);
  assert_memory_equal(before[4], after[4], 48 * 4);
  block_random_free(before);
  block_random_free(after);
  free(text);
  block_destroy(program);
}

static void chains_become_epilogues(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) becomes(chains[i].body, chains[i].fused, NULL, i + 1);
}

// Loads of int8 times an integer become products with constants, as even as they can be; the sums are equal.
static void multiples_become_products(void **state) {
  (void)state;
  static const struct {
    const char *body;
    int numbers[2];  // of the constants, 0: none
    unsigned products;
  } cases[] = {
      {SUM "load r = " C "\nto_i32 t = r\nmul t = t, 5\nadd acc = t, acc\nstore " D " = acc\n", {5, 0}, 1},
      {SUM "load r = " C "\nto_i32 t = r\nmul t = 255, t\nadd acc = t, acc\n" NARROW, {85, 0}, 3},
      {SUM "load r = " C "\nscale f = r, 0.25\nto_i8 r = f\nto_i32 t = r\nmul t = t, -129\nadd acc = t, acc\nstore " D
           " = acc\n",
       {-64, -65},
       2},
      {"load r = " C "\nto_i32 t = r\nmul t = t, 2\nmul t = t, 3\nstore " D " = t\n", {6, 0}, 1},
      {SUM "load r = " C "\nto_i32 t = r\nmul t = t, 0\nadd acc = t, acc\nstore " D " = acc\n", {0, 0}, 0},
      {SUM "load r = " C "\nto_i32 t = r\nmul t = t, 1\nadd acc = t, acc\nstore " D " = acc\n", {0, 0}, 0},
  };
  hw_array array;
  hw_array_default(&array);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wf_diag diag = wf_diag_to(stderr);
    block_program *program = program_of(cases[i].body);
    void **before = block_random_tensors(program, i + 1), **after = block_random_tensors(program, i + 1);
    assert_true(block_run(program, before, &diag));
    const int tensors = program->tensor_count;
    assert_true(pass_fuse(program, NULL, &array, &diag));
    assert_true(block_verify(program, &diag));
    assert_int_equal(program->tensor_count - tensors, (cases[i].numbers[0] != 0) + (cases[i].numbers[1] != 0));
    for (int t = tensors; t < program->tensor_count; t++)
      assert_int_equal(program->tensors[t].contents[0], cases[i].numbers[t - tensors]);
    char *text = body_of(program);
    unsigned products = 0;
    for (const char *at = text; (at = strstr(at, " blocks\n")) != NULL; at++) products++;
    assert_int_equal(products, cases[i].products);
    assert_true(block_run(program, after, &diag));
    assert_memory_equal(before[3], after[3], 48);
    assert_memory_equal(before[4], after[4], 48 * 4);
    block_random_free(before);
    block_random_free(after);
    free(text);
    block_destroy(program);
  }
}

// The line of a body, counted from 1, and what is said about it.
static const struct {
  const char *body;
  int line;
  const char *reason;
} refused[] = {
    {SUM "load at = a[m*4:4 of 8 stride 10, 0:5 of 10 stride 1]\nload bt = b[0:5 of 10 stride 6, 0:6 of 6 stride 1]\n"
         "dot row = at[0:1, 0:5] * bt\nadd acc = acc, row\nstore " D " = acc\n",
     10, "'row' is repeated over a larger block"},
    {SUM "mul acc = acc, 2\nstore " D " = acc\n", 7, "no multiplication of such a block by this number"},
    {"load r = " C "\nto_i32 t = r\nmul t = t, 4065\nstore " D " = t\n", 3,
     "no multiplication of such a block by this number"},
    {"load row = bias[0:1 of 1 stride 0, 0:6 of 6 stride 1]\nmul row = row, 3\n" SUM "add acc = acc, row\nstore " D
     " = acc\n",
     2, "no multiplication of such a block by this number"},
    {"copy acc = 0\nfor k {\n" LOADS "dot acc += at * bt\nload r = " C
     "\nto_i32 t = r\nmul t = t, 3\nadd acc = acc, t\n}\nstore " D " = acc\n",
     2, "no sum over a loop of blocks that are multiplied by a number"},
    {"for k {\n" LOADS "dot acc = at * bt\n}\nadd v = acc, 1\nstore " D " = v\n", 6, "'acc' has no value here"},
    {"copy acc = 0\nfor k {\n" LOADS "dot acc += at * bt\ndot acc = at * bt sum_over k\n}\nstore " D " = acc\n", 6,
     "no sum that overwrites a part of itself"},
    {"for j {\nfor k {\n" LOADS "dot acc = at * bt sum_over j\n}\n}\nstore " D " = acc\n", 2,
     "no sum that starts again in a loop and goes on in another"},
    {SUM "min acc = acc, 127\nscale f = acc, 0.5\nto_i8 y = f\nstore " C " = y\n", 8, "no scaling of clamped results"},
    {"load r = " C "\ncopy y = r\nload r = a[m*4:4 of 8 stride 10, 0:6 of 10 stride 1]\nstore " C " = y\n", 4,
     "the block was replaced before it is used here"},
    {SUM "sub acc = acc, 1\nstore " D " = acc\n", 7, "no subtraction"},
    {SUM "add acc = acc, 3\nstore " D " = acc\n", 7, "no way to add a number to a block"},
    {SUM "mul acc = acc, acc\nstore " D " = acc\n", 7, "no multiplication of blocks element by element"},
    {SUM "add acc = acc, acc\nstore " D " = acc\n", 7, "no sum that takes a product twice"},
    {SUM "max acc = acc, 0\nstore " D " = acc\n", 8, "int32 results leave the accumulator as they are"},
    {SUM "max acc = acc, 5\n" NARROW, 7, "no maximum other than 0 and -128"},
    {SUM "scale f = acc, 0.5\nmin f = f, 6\nto_i8 y = f\nstore " C " = y\n", 8,
     "no minimum other than saturation at 127"},
    {SUM "scale f = acc, -0.5\nmax f = f, 0\nto_i8 y = f\nstore " C " = y\n", 8,
     "no maximum with 0 after a negative scale"},
    {SUM "scale f = acc, 0.5\nmul f = f, 0.5\nto_i8 y = f\nstore " C " = y\n", 8, "no second scaling"},
    {SUM "scale f = acc, 0.5\nadd f = f, f\nto_i8 y = f\nstore " C " = y\n", 8, "no addition of float32 values"},
    {SUM "max acc = acc, 0\nload row = bias[0:1 of 1 stride 0, 0:6 of 6 stride 1]\nadd acc = acc, row\nstore " D
         " = acc\n",
     9, "no sum of results that were clamped or scaled before"},
    {SUM "to_i8 y = acc\nto_i32 acc = y\nstore " D " = acc\n", 9, "no way back from rounded results"},
    {"copy acc = 0\nfor k {\n" LOADS "dot acc += at * bt\nmax acc = acc, 0\n}\n" NARROW, 2,
     "no sum whose parts are clamped or scaled"},
    {"copy acc = 0\nfor k {\n" LOADS "dot acc += at * bt\nstore " D " = acc\n}\n", 6,
     "stores a sum that is not complete here"},
    {"copy acc = 7\nstore " D " = acc\n", 2, "no way to add a number"},
    {"copy acc = 0\nstore " D " = acc\n", 2, "stores numbers"},
    {"for k {\n" LOADS "max at = at, 0\ndot acc = at * bt\n}\nstore " D " = acc\n", 5,
     "an operand of dot must be an int8 block as it was loaded"},
    {"for k {\n" LOADS "dot acc = at * bt\n}\nstore " D " = acc\n", 6,
     "no value for a block that is set inside of a loop only"},
    {"load r = " C "\nload y = " C "\nmax y = r, y\nstore " C " = y\n", 4,
     "this maximum is no pooling over a square window"},
    {SUM "copy v = acc\nmax acc = acc, v\nstore " D " = acc\n", 8, "no maximum of two blocks"},
    {"load row = bias[0:1 of 1 stride 0, 0:6 of 6 stride 1]\ncopy acc = 0\nfor k {\n" LOADS
     "dot acc += at * bt\nadd acc = acc, row\n}\nstore " D " = acc\n",
     3, "no repeated sum of a block from outside of the loop"},
    {SUM NARROW "load r = " C "\nto_i32 t = r\nadd acc = acc, t\nstore " D " = acc\n", 10,
     "the tensor is stored to between this load and the sum that it goes into"},
    {SUM "copy v[0:2, 0:6] = acc[0:2, 0:6]\ncopy v[2:2, 0:6] = acc[2:2, 0:6]\nstore " D " = v\n", 7,
     "a part of the block 'v' cannot be used on its own"},
    {"load at = a[m*4:4 of 8 stride 10, 0:5 of 10 stride 1]\nload bt = b[0:5 of 10 stride 6, 0:6 of 6 stride 1]\n"
     "dot t = at * bt\nload row = bias[0:1 of 1 stride 0, 0:6 of 6 stride 1]\nadd v = t, row\nstore " D " = v\n"
     "to_i8 y = t\nstore " C " = y\n",
     3, "this block goes into two different results"},
};

static void the_rest_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    char *messages = NULL, place[32];
    size_t length = 0;
    FILE *out = open_memstream(&messages, &length);
    wf_diag diag = wf_diag_to(out);
    block_program *program = program_of(refused[i].body);
    bool ok = pass_fuse(program, NULL, NULL, &diag);
    fclose(out);
    snprintf(place, sizeof place, "t:%d:1: error: ", HEAD_LINES + refused[i].line);
    bool said = !ok && diag.errors == 1 && strncmp(messages, place, strlen(place)) == 0 &&
                strstr(messages, refused[i].reason) != NULL && strstr(messages, "\n  hint: ") != NULL;
    if (!said) fail_msg("%s%s, expected %s%s", refused[i].body, messages, place, refused[i].reason);
    free(messages);
    block_destroy(program);
  }
}

#define FACTORS "load r = " C "\nto_i32 t = r\n"
#define GATE "mul t = t, v\nscale f = t, 0.25\nto_i8 y = f\n"
#define GATED "load r = " C "\n"

// On an array with the gate a product of two blocks of int8 is a store's; what else is made of it is refused.
static void products_of_blocks_leave_by_the_gate(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  array.units.gate = true;
  const struct {
    const char *body, *fused, *reason;
  } gates[] = {
      {SUM "max acc = acc, 0\nscale f = acc, 0.5\nto_i8 y = f\nto_i32 v = y\n" FACTORS GATE "store " C " = y\n",
       "for k {  # 2\n" LOADS "dot acc = at * bt sum_over k\n}\n" GATED "store " C
       " = acc relu scale 0.5 gate r scale 0.25\n",
       NULL},
      {FACTORS "load y = a[m*4:4 of 8 stride 10, 0:6 of 10 stride 1]\nto_i32 v = y\nmul t = t, v\nscale f = t, 0.25\n"
               "to_i8 r = f\nstore " C " = r\n",
       "load y = a[m*4:4 of 8 stride 10, 0:6 of 10 stride 1]\nload sum = " C "\nstore " C
       " = sum scale 1 gate y scale 0.25\n",
       NULL},
      {FACTORS "load y = a[m*4:4 of 8 stride 10, 0:6 of 10 stride 1]\nto_i32 v = y\nmul t = t, v\nstore " D " = t\n",
       NULL, "a product of blocks leaves as int8"},
      {FACTORS "load y = a[m*4:4 of 8 stride 10, 0:6 of 10 stride 1]\nto_i32 v = y\nmul t = t, v\nadd t = t, v\n"
               "store " D " = t\n",
       NULL, "no other operation on a product of blocks"},
      {SUM FACTORS "mul acc = acc, t\nscale f = acc, 0.25\nto_i8 y = f\nstore " C " = y\n", NULL,
       "no multiplication of blocks element by element"},
  };
  for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) {
    char *messages = NULL;
    size_t length = 0;
    if (gates[i].fused != NULL) {
      becomes(gates[i].body, gates[i].fused, &array, i + 1);
      continue;
    }
    FILE *out = open_memstream(&messages, &length);
    wf_diag diag = wf_diag_to(out);
    block_program *program = program_of(gates[i].body);
    assert_false(pass_fuse(program, NULL, &array, &diag));
    fclose(out);
    if (strstr(messages, gates[i].reason) == NULL) fail_msg("%s%s", gates[i].body, messages);
    free(messages);
    block_destroy(program);
  }
}

// Pooling moves loads to the store, over what is stored in between.
static void pooling_does_not_move_loads_over_stores(void **state) {
  (void)state;
  const char text[] =
      "program p\ntensor x i8[16] read write\ntensor y i8[9] write\nloop r 2\nloop s 2\n"
      "buffer t i8[1, 3, 3, 1]\nbuffer m i8[1, 3, 3, 1]\nbuffer u i8[1, 3, 3, 1]\n"
      "copy m = -128\nfor r {\nfor s {\n"
      "load t = x[0:1 of 1 stride 16, r:3 of 4 stride 4, s:3 of 4 stride 1, 0:1 of 1 stride 1]\n"
      "max m = m, t\n}\n}\n"
      "load u = x[0:1 of 1 stride 16, 1:3 of 4 stride 4, 1:3 of 4 stride 1, 0:1 of 1 stride 1]\n"
      "store x[0:1 of 1 stride 16, 0:3 of 4 stride 4, 0:3 of 4 stride 1, 0:1 of 1 stride 1] = u\n"
      "store y[0:1 of 1 stride 9, 0:3 of 3 stride 3, 0:3 of 3 stride 1, 0:1 of 1 stride 1] = m\n";
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  block_program *program = block_parse("t", text, strlen(text), &diag);
  assert_true(program != NULL && block_verify(program, &diag));
  assert_false(pass_fuse(program, NULL, NULL, &diag));
  fclose(out);
  assert_non_null(strstr(messages, "t:12:1: error: what is pooled is stored to in the same kernel"));
  free(messages);
  block_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_become_epilogues),
      cmocka_unit_test(multiples_become_products),
      cmocka_unit_test(the_rest_is_refused),
      cmocka_unit_test(products_of_blocks_leave_by_the_gate),
      cmocka_unit_test(pooling_does_not_move_loads_over_stores),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
