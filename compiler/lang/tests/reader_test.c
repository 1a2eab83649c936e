// SPDX-License-Identifier: Apache-2.0
// The reader: what it takes from a file, and its messages word for word.
#include "base/test.h"
#include "compiler/lang/tests/kernels.h"

// Parses `text` and compares what is reported with `expected`.
static lang_file *parse_with(const char *text, const char *expected) {
  char *messages = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&messages, &size);
  wf_diag diag = wf_diag_to(out);
  lang_file *file = lang_parse("k.py", text, strlen(text), &diag);
  fclose(out);
  assert_string_equal(messages, expected);
  assert_int_equal(file == NULL, diag.errors != 0);
  free(messages);
  return file;
}

#define HEAD "from weft import *\n@jit\ndef k(a, n: int, B: constexpr = 16):\n"

static const struct {
  const char *text, *messages;
} refused[] = {
    {HEAD "  x = cdiw(n, B)\n",
     "k.py:4:7: error: 'cdiw' is not known here\n"
     "    4 |   x = cdiw(n, B)\n"
     "      |       ^~~~\n"
     "  hint: did you mean 'cdiv'?\n"},
    {"import triton.language as tl\n@triton.jit\ndef k(n):\n  x = tl.cdib(n, 4)\n  y = tl.cumsum(n, 0)\n",
     "k.py:4:10: error: the kernel language has no 'cdib'\n"
     "    4 |   x = tl.cdib(n, 4)\n"
     "      |          ^~~~\n"
     "  hint: did you mean 'cdiv'?\n"
     "k.py:5:10: error: 'cumsum' is not supported\n"
     "    5 |   y = tl.cumsum(n, 0)\n"
     "      |          ^~~~~~\n"
     "  hint: reductions within a block have no meaning but in softmax and layer norm; sum with dot\n"},
    {"@jit\ndef k(n):\n  x = load(n)\n",
     "k.py:3:7: error: 'load' is not known here\n"
     "    3 |   x = load(n)\n"
     "      |       ^~~~\n"
     "  hint: import it: from weft import *\n"},
    // Two errors in one run, and the block below the first one is skipped.
    {HEAD "  while n > 0:\n    n -= 1\n  x = n +\n",
     "k.py:4:3: error: 'while' cannot be used in a kernel\n"
     "    4 |   while n > 0:\n"
     "      |   ^~~~~\n"
     "  hint: count with 'for ... in range(...)'\n"
     "k.py:6:10: error: expected an expression, found the end of the line\n"
     "    6 |   x = n +\n"
     "      |          ^\n"},
    {HEAD "  a[0] = n\n",
     "k.py:4:3: error: only names can be assigned to\n"
     "    4 |   a[0] = n\n"
     "      |   ^~~~\n"
     "  hint: blocks are values: compute a new one, or store() it\n"},
    {HEAD "  x = (n,\n  y = 2\n",
     "k.py:4:7: error: this bracket is never closed\n"
     "    4 |   x = (n,\n"
     "      |       ^\n"
     "k.py:5:5: error: expected ')' behind the elements, found '='\n"
     "    5 |   y = 2\n"
     "      |     ^\n"},
    {HEAD "  x = 'abc\n",
     "k.py:4:7: error: this string is not closed\n"
     "    4 |   x = 'abc\n"
     "      |       ^~~~\n"},
    {HEAD "    x = 1\n  y = 2\n",
     "k.py:5:3: error: this indentation matches no block around it\n"
     "    5 |   y = 2\n"
     "      |   ^\n"},
    {HEAD "\tx = $n\n",
     "k.py:4:6: error: this character has no meaning here\n"
     "    4 | \tx = $n\n"
     "      | \t    ^\n"},
    {HEAD "  for i in range(n):\n  x = 1\n",
     "k.py:4:3: error: an indented block is missing below this line\n"
     "    4 |   for i in range(n):\n"
     "      |   ^~~~~~~~~~~~~~~~~\n"},
    {HEAD "  x = [i for i in range(n)]\n",
     "k.py:4:10: error: a comprehension cannot be used in a kernel\n"
     "    4 |   x = [i for i in range(n)]\n"
     "      |          ^~~\n"
     "  hint: write the elements out\n"},
    {HEAD "  x = a.two(int8)\n",
     "k.py:4:9: error: values have no '.two'\n"
     "    4 |   x = a.two(int8)\n"
     "      |         ^~~\n"
     "  hint: did you mean '.to'?\n"},
    {"from weft import *\n@jit\ndef k(a: short):\n  pass\n",
     "k.py:3:10: error: this annotation is not known\n"
     "    3 | def k(a: short):\n"
     "      |          ^~~~~\n"
     "  hint: parameters are int, float, constexpr, or pointers to int8, int32, float32\n"},
    {"from weft import *\n@jit\ndef k(a: out, out: int):\n  pass\n",
     "k.py:3:10: error: the type of a pointer is a constexpr\n"
     "    3 | def k(a: out, out: int):\n"
     "      |          ^~~\n"
     "  hint: annotate it: out: constexpr\n"},
    {"from weft import *\n@autotune(configs=[Config({'BLOCK': 4})], key=[])\n@jit\ndef k(a, BLOCKS: constexpr):\n  "
     "pass\n",
     "k.py:2:28: error: this names no parameter of the kernel\n"
     "    2 | @autotune(configs=[Config({'BLOCK': 4})], key=[])\n"
     "      |                            ^~~~~~~\n"
     "  hint: did you mean 'BLOCKS'?\n"},
    {"x = 1\n",
     "k.py: error: there is no kernel in this file\n"
     "  hint: a kernel is a function with @jit\n"},
    {HEAD "  x = 99999999999999999999\n",
     "k.py:4:7: error: this number does not fit in 64 bits\n"
     "    4 |   x = 99999999999999999999\n"
     "      |       ^~~~~~~~~~~~~~~~~~~~\n"},
};

static void test_messages(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    assert_null(parse_with(refused[i].text, refused[i].messages));
}

static const char kernel_text[] =
    "import torch\n"
    "import triton\n"
    "import triton.language as tl\n"
    "\n"
    "def host(x):\n"
    "    with torch.no_grad():  # skipped, whatever it is\n"
    "        return {**x}, [i for i in x]\n"
    "\n"
    "@triton.autotune(\n"
    "    configs=[\n"
    "        triton.Config({'BM': 128, \"BN\": 2 * 32}, num_stages=3, num_warps=8),\n"
    "        triton.Config({'BM': 64, 'BN': 64}, num_stages=4, num_ctas=True),\n"
    "    ],\n"
    "    key=['M', 'N'],\n"
    ")\n"
    "@triton.jit\n"
    "def mm(a_ptr, b_ptr: tl.int8, M, N, scale=0.5,\n"
    "       BM: tl.constexpr = 16,\n"
    "       BN: tl.constexpr = -1):\n"
    "    \"\"\"Multiplies.\"\"\"\n"
    "    base = a_ptr + M * 2  # a pointer, so a_ptr is one\n"
    "    p = tl.make_block_ptr(base=base, shape=(M, N), strides=(N, 1), offsets=(0, 0),\n"
    "                          block_shape=(BM, BN), order=(1, 0))\n"
    "    x = tl.load(p, boundary_check=(0, 1)); tl.store(p, helper(x, b_ptr))\n"
    "\n"
    "@triton.jit\n"
    "def helper(x, y_ptr):\n"
    "    q = tl.make_block_ptr(y_ptr, (4,), (1,), (0,), (4,), (0,))\n"
    "    return x if 1 < 2 <= 3 else -x ** 2\n"
    "\n"
    "def launch(a):\n"
    "    M, N = a.shape\n"
    "    grid = lambda META: (triton.cdiv(M, META['BM']) * triton.cdiv(N, META['BN']), )\n"
    "    mm[grid](a)\n";

static void test_kernel(void **state) {
  (void)state;
  lang_file *file = parse_with(kernel_text, "");
  assert_int_equal(lang_kernel_count(file), 1);
  wf_diag diag = wf_diag_to(NULL);
  const lang_kernel *k = lang_find_kernel(file, NULL, &diag);
  assert_string_equal(k->name, "mm");
  assert_string_equal(k->doc, "Multiplies.");
  assert_int_equal(k->param_count, 7);
  const lang_param_kind kinds[] = {LANG_POINTER, LANG_POINTER,   LANG_SCALAR,   LANG_SCALAR,
                                   LANG_SCALAR,  LANG_CONSTEXPR, LANG_CONSTEXPR};
  for (int i = 0; i < 7; i++) assert_int_equal(k->params[i].kind, kinds[i]);
  assert_int_equal(k->params[0].dtype, LANG_NO_DTYPE);
  assert_int_equal(k->params[1].dtype, LANG_INT8);
  assert_true(k->params[4].by_default.number == 0.5);
  assert_int_equal(k->params[6].by_default.integer, -1);
  assert_int_equal(k->config_count, 2);
  assert_string_equal(k->configs[0].values[1].name, "BN");
  assert_int_equal(k->configs[0].values[1].value.integer, 64);
  assert_string_equal(k->configs[1].options[1].name, "num_ctas");
  assert_int_equal(k->configs[1].options[1].value.kind, LANG_BOOL);
  assert_int_equal(k->key_count, 2);
  assert_string_equal(k->keys[1], "N");
  lang_destroy(file);
}

static lang_args read_args(const char *text, wf_arena *arena) {
  wf_diag diag = wf_diag_to(stderr);
  lang_args args;
  assert_true(lang_read_args(text, arena, &args, &diag));
  return args;
}

// Arguments and their text: each kind of value, exact numbers, lists of any length.
static void test_arguments(void **state) {
  (void)state;
  wf_arena *arena = wf_arena_create();
  static const char text[] =
      "M=512,scale=0.10000000149011612,by=2.0,relu=True,bias=False,act=,mode=fast,out=int32,x=None";
  const lang_args args = read_args(text, arena);
  static const lang_value_kind kinds[] = {LANG_INT,  LANG_FLOAT, LANG_FLOAT, LANG_BOOL, LANG_BOOL,
                                          LANG_TEXT, LANG_TEXT,  LANG_TYPE,  LANG_NONE};
  assert_int_equal(args.count, sizeof kinds / sizeof *kinds);
  for (int i = 0; i < args.count; i++) assert_int_equal(args.items[i].value.kind, kinds[i]);
  assert_true(args.items[1].value.number == (double)0.1f);
  assert_int_equal(args.items[7].value.integer, LANG_INT32);
  assert_string_equal(lang_args_text(&args, arena), text);
  const lang_args again = read_args(lang_args_text(&args, arena), arena), other = read_args("M=512", arena);
  assert_true(lang_args_equal(&args, &again) && !lang_args_equal(&args, &other));
  assert_int_equal(lang_args_find(&other, "M")->integer, 512);
  assert_null(lang_args_find(&other, "N"));

  enum { MANY = 2000 };
  const char *name = wf_arena_format(arena, "%0600d", 7), *list = wf_arena_format(arena, "%s=%s", name, name);
  for (int i = 0; i < MANY; i++) list = wf_arena_format(arena, "%s,n%d=%d", list, i, i);
  const lang_args many = read_args(list, arena);
  assert_int_equal(many.count, MANY + 1);
  assert_string_equal(many.items[0].name, name);
  assert_int_equal(lang_args_find(&many, "n1999")->integer, 1999);

  wf_diag diag = wf_diag_to(NULL);
  lang_args none;
  assert_false(lang_read_args("M=1,N", arena, &none, &diag));
  assert_false(lang_read_args("M=1,,N=2", arena, &none, &diag));
  assert_false(lang_read_args("M=1,N=2,M=3", arena, &none, &diag));
  assert_false(lang_read_args("M=9223372036854775808", arena, &none, &diag));
  assert_true(lang_read_args("M=9223372036854775807,N=1e30", arena, &none, &diag));
  assert_int_equal(diag.errors, 4);
  wf_arena_destroy(arena);
}

// A type as the value of a parameter: by default, from a configuration, as text; a pointer follows it.
static void test_types(void **state) {
  (void)state;
  lang_file *file = parse_with(
      "from weft import *\n@autotune(configs=[Config({'out': int32})], key=[])\n@jit\ndef k(y_ptr: out, out: constexpr "
      "= "
      "int8):\n  pass\ngrid = (1,)\n",
      "");
  lang_instance *instance = lang_instantiate(file, lang_kernel_at(file, 0));
  wf_diag diag = wf_diag_to(NULL);
  assert_int_equal(instance->kernel->params[0].kind, LANG_POINTER);
  assert_int_equal(instance->kernel->params[1].by_default.kind, LANG_TYPE);
  assert_true(lang_ready(instance, &diag));
  assert_int_equal(instance->dtypes[0], LANG_INT8);
  assert_true(lang_set_config(instance, 0, &diag) && lang_ready(instance, &diag));
  assert_int_equal(instance->dtypes[0], LANG_INT32);
  assert_true(set_text(instance, "out=int8", &diag) && lang_ready(instance, &diag));
  assert_int_equal(instance->dtypes[0], LANG_INT8);
  assert_false(set_text(instance, "y_ptr=int32", &diag));  // out says it
  assert_int_equal(diag.errors, 1);
  assert_true(lang_set(instance, "out", lang_int(4), &diag));
  assert_false(lang_ready(instance, &diag));
  assert_int_equal(diag.errors, 2);
  lang_destroy(file);
}

// What is read but means nothing is said.
static void test_warnings(void **state) {
  (void)state;
  lang_destroy(
      parse_with("from weft import *\n@autotune(configs=[], key=[], warmup=5)\n@jit(debug=True)\ndef k(a):\n  pass\n",
                 "k.py:2:31: warning: 'warmup' of autotune has no meaning here\n"
                 "k.py:3:2: warning: arguments of jit have no meaning here\n"));
}

static void test_instance(void **state) {
  (void)state;
  lang_file *file = parse_with(kernel_text, "");
  wf_diag diag = wf_diag_to(NULL);
  lang_instance *instance = lang_instantiate(file, lang_kernel_at(file, 0));
  assert_false(lang_ready(instance, &diag));
  assert_true(set_text(instance, "M=200,N=65,scale=0.25,a_ptr=int8", &diag));
  assert_true(lang_set_config(instance, 1, &diag));
  assert_true(lang_ready(instance, &diag));
  assert_int_equal(instance->grid[0], 4 * 2);
  assert_true(instance->values[4].number == 0.25);
  diag.errors = 0;
  assert_false(set_text(instance, "b_ptr=int32", &diag));  // annotated as int8
  assert_false(set_text(instance, "P=1", &diag));
  assert_false(set_text(instance, "M", &diag));
  assert_false(lang_set_config(instance, 2, &diag));
  assert_int_equal(diag.errors, 4);
  assert_true(set_text(instance, "BM=0", &diag));
  assert_false(lang_ready(instance, &diag));  // cdiv by zero in the grid
  lang_set_grid(instance, 3, 2, 1);
  assert_true(lang_ready(instance, &diag));
  lang_destroy(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages), cmocka_unit_test(test_kernel),   cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_types),    cmocka_unit_test(test_warnings), cmocka_unit_test(test_instance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
