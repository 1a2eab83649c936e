// SPDX-License-Identifier: Apache-2.0
// Tables of constants: the reader, and the built-in ones.
#include <assert.h>
#include <string.h>

#include "hw/tech.h"
#include "hw/yaml_tree.h"
#include "search/model/paper.h"
#include "search/model/tables_files.h"

typedef struct constant {
  const char *group, *field;
  size_t offset;
} constant;

static const constant constants_of[] = {
#define GROUP(group)
#define END(group)
#define NUMBER(group, field, ...) {#group, #field, offsetof(paper_constants, group.field)},
#include "search/model/paper_constants.def"
#undef GROUP
#undef END
#undef NUMBER
};
enum { CONSTANTS = sizeof constants_of / sizeof *constants_of };

static const char *const groups[] = {
#define GROUP(group) #group,
#define END(group)
#define NUMBER(group, field, ...)
#include "search/model/paper_constants.def"
    NULL};
#undef GROUP
#undef NUMBER
#undef END
#define GROUP(group) static const char *const group##_fields[] = {
#define NUMBER(group, field, ...) #field,
#define END(group) \
  NULL             \
  }                \
  ;
#include "search/model/paper_constants.def"
#undef GROUP
#undef END
#undef NUMBER

static bool check_group(const hw_yaml_node *root, const char *group, const char *const *fields, wf_diag *diag) {
  const hw_yaml_node *map = hw_yaml_tree_find(root, group);
  return map == NULL ||
         (hw_yaml_tree_is(map, YAML_TREE_MAP, group, diag) && hw_yaml_tree_keys(map, group, fields, diag));
}

static bool check_keys(const hw_yaml_node *root, wf_diag *diag) {
  return hw_yaml_tree_keys(root, "a table of constants", groups, diag)
#define GROUP(group) &&check_group(root, #group, group##_fields, diag)
#define END(group)
#define NUMBER(group, field, ...)
#include "search/model/paper_constants.def"
#undef GROUP
#undef END
#undef NUMBER
      ;
}

static bool read_constant(const hw_yaml_node *root, const constant *c, paper_constants *to, wf_diag *diag) {
  const hw_yaml_node *map = hw_yaml_tree_find(root, c->group);
  const hw_yaml_node *node = map == NULL ? NULL : hw_yaml_tree_find(map, c->field);
  if (node == NULL) {
    wf_error(diag, map == NULL ? root->where : map->where, "the key \"%s.%s\" is missing", c->group, c->field);
    return false;
  }
  double value;
  if (!hw_yaml_tree_number(node, c->field, &value, diag)) return false;
  if (value < 0) {
    wf_error(diag, node->where, "%s is 0 or more", c->field);
    return false;
  }
  memcpy((char *)to + c->offset, &value, sizeof value);
  return true;
}

bool paper_constants_parse(paper_constants *constants, const char *file, const char *text, size_t length,
                           wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  const hw_yaml_node *root = hw_yaml_tree_parse(arena, file, text, length, diag);
  bool good =
      root != NULL && hw_yaml_tree_is(root, YAML_TREE_MAP, "a table of constants", diag) && check_keys(root, diag);
  for (size_t i = 0; good && i < CONSTANTS; i++) good = read_constant(root, &constants_of[i], constants, diag);
  wf_arena_destroy(arena);
  return good;
}

// The built-in tables parse: the tests see to it.
static void of_tech(const hw_tech *tech, paper_constants *c) {
  *c = (paper_constants){0};
  c->energy_pj.mac = tech->energy_pj.mac;
  c->energy_pj.registers = tech->energy_pj.registers;
  c->energy_pj.accumulator = tech->energy_pj.accumulator;
  c->energy_pj.accumulator_per_kib_of_column = tech->energy_pj.accumulator_per_kib_of_column;
  c->energy_pj.scratchpad = tech->energy_pj.scratchpad;
  c->energy_pj.scratchpad_per_kib = tech->energy_pj.scratchpad_per_kib;
  c->energy_pj.dram = tech->energy_pj.dram;
  c->words_per_cycle.registers_per_pe = tech->words_per_cycle.registers_per_pe;
  c->words_per_cycle.accumulator_per_column = tech->words_per_cycle.accumulator_per_column;
  c->words_per_cycle.scratchpad_per_row = tech->words_per_cycle.scratchpad_per_column;  // the array is square
  c->words_per_cycle.dram = tech->words_per_cycle.dram;
}

// The built-in tables parse: the tests see to it.
static void of_file(const wf_text_file *file, paper_constants *constants) {
  wf_diag diag = wf_diag_to(stderr);
  const bool good = paper_constants_parse(constants, file->name, file->text, strlen(file->text), &diag);
  assert(good);
  (void)good;
}

bool paper_constants_named(paper_constants *constants, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < search_tables_file_count; i++) {
    const wf_text_file *file = &search_tables_files[i];
    if (strncmp(file->name, name, length) != 0 || strcmp(file->name + length, ".yaml") != 0) continue;
    of_file(file, constants);
    return true;
  }
  hw_tech tech;
  if (!hw_tech_named(&tech, name) || !tech.has.energy_pj || !tech.has.words_per_cycle) return false;
  of_tech(&tech, constants);
  return true;
}
