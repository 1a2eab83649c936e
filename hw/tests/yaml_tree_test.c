// SPDX-License-Identifier: Apache-2.0
// The YAML tree: shape and places of nodes, and what is refused where.
#include "hw/yaml_tree.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/test.h"

typedef struct fixture {
  wf_arena *arena;
  wf_diag diag;
  char *said;
  size_t length;
} fixture;

static const hw_yaml_node *parse(fixture *f, const char *text) {
  f->arena = wf_arena_create();
  f->diag = wf_diag_to(open_memstream(&f->said, &f->length));
  return hw_yaml_tree_parse(f->arena, "f.yaml", text, strlen(text), &f->diag);
}

static void done(fixture *f) {
  fclose(f->diag.out);
  free(f->said);
  wf_arena_destroy(f->arena);
}

static void shape(void **state) {
  (void)state;
  fixture f;
  const hw_yaml_node *root = parse(&f, "a: 1\nlist:\n  - x\n  - {y: 2.5}\n");
  assert_non_null(root);
  assert_int_equal(root->kind, YAML_TREE_MAP);
  assert_int_equal(root->count, 2);
  int64_t one;
  assert_true(hw_yaml_tree_integer(hw_yaml_tree_find(root, "a"), "a", 0, 1, &one, &f.diag));
  assert_int_equal(one, 1);
  const hw_yaml_node *list = hw_yaml_tree_find(root, "list");
  assert_int_equal(list->kind, YAML_TREE_LIST);
  assert_int_equal(list->count, 2);
  assert_string_equal(list->first->text, "x");
  assert_int_equal(list->first->where.line, 3);
  assert_int_equal(list->first->where.column, 5);
  const hw_yaml_node *y = hw_yaml_tree_find(list->first->next, "y");
  double number;
  assert_true(hw_yaml_tree_number(y, "y", &number, &f.diag));
  assert_true(number == 2.5);
  assert_int_equal(y->key_where.column, 6);
  assert_null(hw_yaml_tree_find(root, "b"));
  assert_int_equal(f.diag.errors, 0);
  done(&f);
}

static void refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "the file is empty"},
      {"a: [1, 2", "did not find expected"},
      {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: error: key 'a' appears twice"},
      {"a: &x 1\n", "f.yaml:1:4: error: anchors"},
      {"a: !t 1\n", "f.yaml:1:4: error: tags"},
      {"a: 1\n---\nb: 2\n", "a second document"},
      {"? [a]\n: 1\n", "a key is a single word"},
      {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", "nested too deeply"},
      {"a: \"x\\0y\"\n", "zero byte"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    assert_null(parse(&f, cases[i].text));
    fflush(f.diag.out);
    if (strstr(f.said, cases[i].message) == NULL) fail_msg("case %zu: %s", i, f.said);
    assert_int_equal(f.diag.errors, 1);
    done(&f);
  }
}

static void values(void **state) {
  (void)state;
  static const char *const words[] = {"grid", "random", NULL}, *const keys[] = {"a", "b", NULL};
  fixture f;
  const hw_yaml_node *root = parse(&f, "a: 12x\nb: grid\nc: inf\n");
  int64_t integer;
  double number;
  int choice = -1;
  assert_false(hw_yaml_tree_integer(hw_yaml_tree_find(root, "a"), "a", 0, 100, &integer, &f.diag));
  assert_false(hw_yaml_tree_number(hw_yaml_tree_find(root, "c"), "c", &number, &f.diag));
  assert_true(hw_yaml_tree_choice(hw_yaml_tree_find(root, "b"), "b", words, &choice, &f.diag));
  assert_int_equal(choice, 0);
  assert_false(hw_yaml_tree_choice(hw_yaml_tree_find(root, "a"), "a", words, &choice, &f.diag));
  assert_false(hw_yaml_tree_is(root, YAML_TREE_LIST, "the file", &f.diag));
  assert_false(hw_yaml_tree_keys(root, "the file", keys, &f.diag));
  fflush(f.diag.out);
  assert_non_null(strstr(f.said, "f.yaml:1:4: error: a must be a whole number from 0 to 100, not '12x'"));
  assert_non_null(strstr(f.said, "one of grid, random"));
  assert_non_null(strstr(f.said, "the file must be a list, not a map"));
  assert_non_null(strstr(f.said, "f.yaml:3:1: error: unknown key 'c' in the file"));
  done(&f);
}

// Keys are not compared each with each.
static void many_keys_are_quick(void **state) {
  (void)state;
  enum { KEYS = 200000, KEY_CHARS = 16 };
  static const char *const known[] = {"a", NULL};
  char *text = wf_alloc(KEYS, KEY_CHARS), *end = text;
  for (int k = 0; k < KEYS; k++) end += snprintf(end, KEY_CHARS, "k%d: 1\n", k);
  fixture f;
  const double start = wf_process_seconds();
  const hw_yaml_node *root = parse(&f, text);
  assert_non_null(root);
  assert_int_equal(root->count, KEYS);
  assert_false(hw_yaml_tree_keys(root, "a map", known, &f.diag));
  assert_true(wf_process_seconds() - start < 20);
  assert_int_equal(f.diag.errors, 21);
  fflush(f.diag.out);
  assert_non_null(strstr(f.said, "199980 more unknown keys in a map"));
  done(&f);
  snprintf(end, KEY_CHARS, "k77: 1\n");
  assert_null(parse(&f, text));
  fflush(f.diag.out);
  assert_non_null(strstr(f.said, "f.yaml:200001:1: error: key 'k77' appears twice"));
  done(&f);
  wf_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shape), cmocka_unit_test(refused), cmocka_unit_test(values),
                                     cmocka_unit_test(many_keys_are_quick)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
