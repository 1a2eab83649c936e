// SPDX-License-Identifier: Apache-2.0
// The reader of elaborated hardware: names, instance counts through the hierarchy, memory bits.
#include "hw/export/design.h"

#include <unistd.h>

#include "base/test.h"

// top holds two rows of three leaves each, and one leaf with another parameter; spare is not used.
static const char rtlil[] =
    "autoidx 7\n"
    "attribute \\top 1\n"
    "module \\top\n"
    "  wire width 8 \\a\n"
    "  cell $add $add$1\n"
    "  end\n"
    "  cell $paramod$12ab\\row \\u_row_0\n"
    "  end\n"
    "  cell $paramod$12ab\\row \\u_row_1\n"
    "  end\n"
    "  cell $paramod\\leaf\\WIDTH=s32'00000000000000000000000000001000 \\u_leaf\n"
    "  end\n"
    "end\n"
    "module $paramod$12ab\\row\n"
    "  memory width 16 size 1024 \\mem\n"
    "  memory width 4 offset 2 size 8 \\fifo\n"
    "  cell $paramod\\leaf\\WIDTH=s32'00000000000000000000000000000100 \\cell_0\n"
    "  end\n"
    "  cell $paramod\\leaf\\WIDTH=s32'00000000000000000000000000000100 \\cell_1\n"
    "  end\n"
    "  cell $paramod\\leaf\\WIDTH=s32'00000000000000000000000000000100 \\cell_2\n"
    "  end\n"
    "end\n"
    "module $paramod\\leaf\\WIDTH=s32'00000000000000000000000000000100\n"
    "end\n"
    "module $paramod\\leaf\\WIDTH=s32'00000000000000000000000000001000\n"
    "end\n"
    "module \\spare\n"
    "end\n";

typedef struct fixture {
  char in[32], out[32];
} fixture;

static int set_up(void **state) {
  static fixture f;
  snprintf(f.in, sizeof f.in, "/tmp/weft-design-XXXXXX");
  snprintf(f.out, sizeof f.out, "/tmp/weft-design-XXXXXX");
  const int in = mkstemp(f.in), out = mkstemp(f.out);
  const bool good = in >= 0 && out >= 0 && write(in, rtlil, sizeof rtlil - 1) == (ssize_t)sizeof rtlil - 1;
  close(in);
  close(out);
  *state = &f;
  return good ? 0 : -1;
}

static int tear_down(void **state) {
  const fixture *f = *state;
  return unlink(f->in) + unlink(f->out);
}

static const hw_design_module *module(const hw_design *design, const char *name) {
  for (size_t i = 0; i < design->count; i++)
    if (strcmp(design->modules[i].name, name) == 0) return &design->modules[i];
  fail_msg("no module %s", name);
  return NULL;
}

static void modules_are_counted(void **state) {
  const fixture *f = *state;
  hw_design design;
  assert_true(hw_design_read(&design, f->in, f->out, "top"));
  assert_int_equal(design.count, 5);
  assert_int_equal(module(&design, "top")->instances, 1);
  assert_int_equal(module(&design, "row_0")->instances, 2);
  assert_int_equal(module(&design, "leaf_0")->instances, 6);
  assert_int_equal(module(&design, "leaf_1")->instances, 1);
  assert_int_equal(module(&design, "spare")->instances, 0);
  assert_string_equal(module(&design, "leaf_1")->base, "leaf");
  assert_int_equal(module(&design, "row_0")->memory_bits, 16 * 1024 + 4 * 8);
  hw_design_free(&design);
}

static void the_copy_has_short_names(void **state) {
  const fixture *f = *state;
  hw_design design;
  assert_true(hw_design_read(&design, f->in, f->out, "top"));
  hw_design_free(&design);
  char text[sizeof rtlil] = "";
  FILE *in = fopen(f->out, "r");
  assert_non_null(in);
  text[fread(text, 1, sizeof text - 1, in)] = '\0';
  fclose(in);
  assert_null(strstr(text, "$paramod"));
  assert_non_null(strstr(text, "\nmodule \\leaf_1\n"));
  assert_non_null(strstr(text, "  cell \\leaf_0 \\cell_2\n"));
  assert_non_null(strstr(text, "  cell $add $add$1\n"));
}

static void another_top_is_refused(void **state) {
  const fixture *f = *state;
  hw_design design;
  assert_false(hw_design_read(&design, f->in, f->out, "weft_accel"));
  hw_design_free(&design);
  assert_false(hw_design_read(&design, "/nonexistent", f->out, "top"));
  hw_design_free(&design);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(modules_are_counted, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_copy_has_short_names, set_up, tear_down),
      cmocka_unit_test_setup_teardown(another_top_is_refused, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
