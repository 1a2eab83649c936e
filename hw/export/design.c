// SPDX-License-Identifier: Apache-2.0
// Reads elaborated RTLIL. Only four kinds of line matter, and yosys writes each on a line of its own:
//   module NAME     cell TYPE NAME     memory width W [offset O] size N NAME     end
// A module with parameters is called $paramod\BASE\PARAMETERS or $paramod$HASH\BASE.
#include "hw/export/design.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void base_of(const char *raw, char base[HW_DESIGN_NAME]) {
  const char *start = strchr(raw, '\\');
  start = start == NULL ? raw : start + 1;
  snprintf(base, HW_DESIGN_NAME, "%.*s", (int)strcspn(start, "\\"), start);
}

size_t hw_design_find(const hw_design *design, const char *raw) {
  size_t i = 0;
  while (i < design->count && strcmp(design->modules[i].raw, raw) != 0) i++;
  return i;
}

static void add_module(hw_design *design, const char *raw) {
  design->modules = wf_realloc(design->modules, design->count + 1, sizeof *design->modules);
  hw_design_module *module = &design->modules[design->count];
  *module = (hw_design_module){.raw = wf_strdup(raw)};
  base_of(raw, module->base);
  unsigned variant = 0;
  for (size_t i = 0; i < design->count; i++) variant += strcmp(design->modules[i].base, module->base) == 0;
  const int length = HW_DESIGN_NAME - 16;  // room for the number
  if (*raw == '$') {
    snprintf(module->name, sizeof module->name, "%.*s_%u", length, module->base, variant);
  } else {
    snprintf(module->name, sizeof module->name, "%.*s", length, module->base);
  }
  design->count++;
}

static void add_child(hw_design_module *parent, size_t child) {
  for (size_t i = 0; i < parent->child_count; i++) {
    if (parent->children[i].module != child) continue;
    parent->children[i].count++;
    return;
  }
  parent->children = wf_realloc(parent->children, parent->child_count + 1, sizeof *parent->children);
  parent->children[parent->child_count++] = (hw_design_child){child, 1};
}

static uint64_t number_after(const char *line, const char *word) {
  const char *found = strstr(line, word);
  return found == NULL ? 0 : strtoull(found + strlen(word), NULL, 10);
}

// The second word of a line that starts with `keyword` after blanks: its start, and *length; NULL if it does not.
static const char *word_after(const char *line, const char *keyword, size_t *length) {
  line += strspn(line, " ");
  const size_t skip = strlen(keyword);
  if (strncmp(line, keyword, skip) != 0) return NULL;
  *length = strcspn(line + skip, " \n");
  return line + skip;
}

static size_t find_word(const hw_design *design, const char *word, size_t length) {
  char *raw = wf_format("%.*s", (int)length, word);
  const size_t index = hw_design_find(design, raw);
  wf_free(raw);
  return index;
}

static void read_modules(hw_design *design, FILE *in) {
  char *line = NULL;
  size_t size = 0, length = 0;
  while (getline(&line, &size, in) > 0) {
    const char *word = word_after(line, "module ", &length);
    if (word == NULL) continue;
    char *raw = wf_format("%.*s", (int)length, word);
    add_module(design, raw);
    wf_free(raw);
  }
  free(line);
}

// Copies a line with the module name in it, if any, replaced.
static void copy_line(const char *line, const char *word, size_t length, const char *name, FILE *out) {
  fprintf(out, "%.*s\\%s%s", (int)(word - line), line, name, word + length);
}

static void read_contents(hw_design *design, FILE *in, FILE *out) {
  char *line = NULL;
  size_t size = 0, length = 0, current = 0;
  while (getline(&line, &size, in) > 0) {
    const char *module = word_after(line, "module ", &length);
    const char *word = module != NULL ? module : word_after(line, "cell ", &length);
    const size_t index = word == NULL ? design->count : find_word(design, word, length);
    if (module != NULL) current = index;
    if (module == NULL && index != design->count) add_child(&design->modules[current], index);
    size_t ignored;
    if (word_after(line, "memory ", &ignored) != NULL)
      design->modules[current].memory_bits += number_after(line, " width ") * number_after(line, " size ");
    if (index == design->count) {
      fputs(line, out);
    } else {
      copy_line(line, word, length, design->modules[index].name, out);
    }
  }
  free(line);
}

static void count_instances(hw_design *design, size_t index, unsigned times) {
  hw_design_module *module = &design->modules[index];
  module->instances += times;
  for (size_t i = 0; i < module->child_count; i++)
    count_instances(design, module->children[i].module, times * module->children[i].count);
}

bool hw_design_read(hw_design *design, const char *in_path, const char *out_path, const char *top) {
  *design = (hw_design){0};
  FILE *in = fopen(in_path, "r"), *out = in == NULL ? NULL : fopen(out_path, "w");
  bool good = out != NULL;
  if (good) {
    read_modules(design, in);
    rewind(in);
    read_contents(design, in, out);
    good = fflush(out) == 0 && !ferror(out);
    char *raw = wf_format("\\%s", top);
    const size_t index = hw_design_find(design, raw);
    wf_free(raw);
    good = good && index != design->count;
    if (good) count_instances(design, index, 1);
  }
  if (in != NULL) fclose(in);
  if (out != NULL) fclose(out);
  return good;
}

void hw_design_free(hw_design *design) {
  for (size_t i = 0; i < design->count; i++) {
    wf_free(design->modules[i].raw);
    wf_free(design->modules[i].children);
  }
  wf_free(design->modules);
  *design = (hw_design){0};
}
