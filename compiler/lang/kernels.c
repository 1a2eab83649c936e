// SPDX-License-Identifier: Apache-2.0
// What a file says about its kernels apart from their bodies: parameters, @autotune, docstring, grid.
#include <string.h>

#include "compiler/lang/builtins.h"
#include "compiler/lang/check.h"
#include "compiler/lang/scalar.h"

typedef struct reader {
  lang_file *file;
  wf_diag *diag;
} reader;

static void error(reader *r, lang_source_span span, const char *text) {
  lang_source_error(&r->file->s, r->diag, span, "%s", text);
}

static bool constant(reader *r, lang_ast *node, lang_value *value) {
  lang_check_module_name(r->file, node);  // a type
  const lang_scalar_context c = {.s = &r->file->s, .diag = r->diag};
  return lang_scalar_eval(&c, node, value);
}

// ---- pointers
// A parameter without annotation is a pointer if it is what a base of make_block_ptr, or what a load or store goes
// through, starts with: directly, through variables, or as an argument of a function that uses it so.

typedef struct pointer_set {
  bool *local;  // per slot of the function
  bool changed;
} pointer_set;

static const bool *find_pointers(const lang_file *file, lang_ast *function);

// The leftmost name of a sum: `a_ptr + i * stride` is a pointer because of a_ptr.
static void mark_base(pointer_set *set, const lang_ast *node) {
  while (node != NULL && (node->kind == AST_BINARY || node->kind == AST_SUBSCRIPT)) node = node->a;
  if (node == NULL || node->kind != AST_NAME || node->meaning != AST_LOCAL || set->local[node->index]) return;
  set->local[node->index] = true;
  set->changed = true;
}

// The name of the parameter that is a pointer, of functions that have one.
static const char *pointer_parameter(const lang_ast *callee) {
  if (callee->meaning != AST_BUILTIN) return NULL;
  if (callee->index == BUILTIN_MAKE_BLOCK_PTR) return "base";
  return callee->index == BUILTIN_LOAD || callee->index == BUILTIN_STORE ? "pointer" : NULL;
}

static void mark_call(const lang_file *file, pointer_set *set, const lang_ast *node) {
  const char *parameter = pointer_parameter(node->a);
  if (parameter != NULL) {
    for (int i = 0; i < node->count; i++) {
      bool named = node->items[i]->kind == AST_KEYWORD;
      if (named ? strcmp(node->items[i]->name, parameter) == 0 : i == 0)
        mark_base(set, named ? node->items[i]->a : node->items[i]);
    }
  } else if (node->a->meaning == AST_CALLEE) {
    const lang_ast *callee = node->a->callee;
    const bool *pointers = find_pointers(file, node->a->callee);
    for (int i = 0; i < node->count && i < callee->param_count; i++)
      if (node->items[i]->kind != AST_KEYWORD && pointers[i]) mark_base(set, node->items[i]);
  }
}

static void mark_pointers(const lang_file *file, pointer_set *set, const lang_ast *node) {
  if (node == NULL) return;
  if (node->kind == AST_CALL) mark_call(file, set, node);
  if (node->kind == AST_ASSIGN && node->a->kind == AST_NAME && set->local[node->a->index] &&
      node->a->meaning == AST_LOCAL && node->b->kind != AST_CALL)
    mark_base(set, node->b);
  if (node->kind != AST_FUNCTION) {
    mark_pointers(file, set, node->a);
    mark_pointers(file, set, node->b);
    mark_pointers(file, set, node->c);
  }
  for (int i = 0; i < node->count; i++) mark_pointers(file, set, node->items[i]);
}

// Kept with the function, so that each is looked at once; a function that calls itself sees what is known so far.
static const bool *find_pointers(const lang_file *file, lang_ast *function) {
  if (function->pointers != NULL) return function->pointers;
  function->pointers = WF_ARENA_ARRAY(file->arena, (size_t)function->local_count + 1, bool);
  pointer_set set = {.local = function->pointers};
  do {
    set.changed = false;
    mark_pointers(file, &set, function);
  } while (set.changed);
  return function->pointers;
}

// ---- parameters

typedef enum {
  ANNOTATION_NONE,
  ANNOTATION_CONSTEXPR,
  ANNOTATION_SCALAR,
  ANNOTATION_POINTER,
  ANNOTATION_BAD
} annotation;

// The parameter of a function that has a name, or -1.
static int param_of(const lang_ast *function, const char *name) {
  for (int i = 0; i < function->param_count; i++)
    if (function->params[i]->name == name) return i;
  return -1;
}

// `int8`, or `pointer_type(int8)`; or instead of the type the parameter that has it as its value.
static annotation read_annotation(reader *r, const lang_ast *function, lang_ast *node, lang_param *param) {
  static const char *const scalars[] = {"int", "float", "bool"};
  if (node == NULL) return ANNOTATION_NONE;
  if (node->kind == AST_CALL && node->count == 1 && lang_ast_last_name(node->a) != NULL &&
      strcmp(lang_ast_last_name(node->a), "pointer_type") == 0)
    node = node->items[0];
  const char *name = lang_ast_last_name(node);
  if (name == NULL) return ANNOTATION_BAD;
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
    if (strcmp(scalars[i], name) == 0) return ANNOTATION_SCALAR;
  lang_check_module_name(r->file, node);
  if (node->meaning == AST_DTYPE) {
    param->dtype = (lang_dtype)node->index;
    return ANNOTATION_POINTER;
  }
  if (node->kind == AST_NAME) param->dtype_param = param_of(function, node->name);
  if (param->dtype_param >= 0) return ANNOTATION_POINTER;
  return node->meaning == AST_BUILTIN && node->index == BUILTIN_CONSTEXPR ? ANNOTATION_CONSTEXPR : ANNOTATION_BAD;
}

static void read_param(reader *r, const lang_ast *function, const lang_ast *node, bool used_as_pointer,
                       lang_param *param) {
  *param = (lang_param){
      .name = node->name, .kind = LANG_SCALAR, .dtype_param = -1, .where = lang_source_where(&r->file->s, node->span)};
  annotation kind = read_annotation(r, function, node->a, param);
  if (kind == ANNOTATION_BAD) {
    error(r, node->a->span, "this annotation is not known");
    wf_hint(r->diag, "parameters are int, float, constexpr, or pointers to int8, int32, float32");
  }
  if (kind == ANNOTATION_POINTER || used_as_pointer) param->kind = LANG_POINTER;
  if (kind == ANNOTATION_CONSTEXPR) param->kind = LANG_CONSTEXPR;
  if (used_as_pointer && (kind == ANNOTATION_CONSTEXPR || kind == ANNOTATION_SCALAR))
    error(r, node->span, "this parameter is used as a pointer");
  if (node->b == NULL) return;
  if (param->kind == LANG_POINTER)
    error(r, node->b->span, "a pointer cannot have a default");
  else
    constant(r, node->b, &param->by_default);
}

// What says the type of a pointer is a constexpr.
static void check_types(reader *r, const lang_ast *function, const lang_param *params) {
  for (int i = 0; i < function->param_count; i++) {
    const int type = params[i].dtype_param;
    if (type < 0 || params[type].kind == LANG_CONSTEXPR) continue;
    error(r, function->params[i]->a->span, "the type of a pointer is a constexpr");
    wf_hint(r->diag, "annotate it: %s: constexpr", params[type].name);
  }
}

static void read_params(reader *r, lang_kernel *kernel) {
  lang_ast *function = (lang_ast *)kernel->function;
  lang_param *params = WF_ARENA_ARRAY(r->file->arena, (size_t)function->param_count + 1, lang_param);
  const bool *pointers = find_pointers(r->file, function);
  for (int i = 0; i < function->param_count; i++) read_param(r, function, function->params[i], pointers[i], &params[i]);
  check_types(r, function, params);
  kernel->params = params;
  kernel->param_count = function->param_count;
}

// ---- @autotune

typedef struct option_list {
  lang_arg *items;
  size_t count, room;
} option_list;

static void add_option(reader *r, option_list *list, const char *name, lang_ast *value) {
  lang_arg option = {.name = name};
  if (constant(r, value, &option.value)) *WF_ARENA_PUSH(r->file->arena, list->items, list->count, &list->room) = option;
}

static void read_config_values(reader *r, const lang_kernel *kernel, const lang_ast *dict, option_list *list) {
  for (int i = 0; i + 1 < dict->count; i += 2) {
    const lang_ast *key = dict->items[i];
    if (key->kind != AST_STRING || lang_find_param(kernel, key->name) < 0) {
      error(r, key->span, "this names no parameter of the kernel");
      lang_source_guess guess = lang_source_guess_for(key->kind == AST_STRING ? key->name : "");
      for (int p = 0; p < kernel->param_count; p++) lang_source_guess_add(&guess, kernel->params[p].name);
      if (guess.best != NULL) wf_hint(r->diag, "did you mean '%s'?", guess.best);
      continue;
    }
    add_option(r, list, key->name, dict->items[i + 1]);
  }
}

static bool read_config(reader *r, const lang_kernel *kernel, const lang_ast *node, lang_config *config) {
  const char *name = node->kind == AST_CALL ? lang_ast_last_name(node->a) : NULL;
  if (name == NULL || strcmp(name, "Config") != 0 || node->count == 0 || node->items[0]->kind != AST_DICT) {
    error(r, node->span, "expected Config({\"NAME\": value, ...}, option=value, ...)");
    return false;
  }
  option_list values = {0}, options = {0};
  read_config_values(r, kernel, node->items[0], &values);
  for (int i = 1; i < node->count; i++) {
    if (node->items[i]->kind == AST_KEYWORD)
      add_option(r, &options, node->items[i]->name, node->items[i]->a);
    else
      error(r, node->items[i]->span, "options of a Config have names");
  }
  *config = (lang_config){values.items, options.items, (int)values.count, (int)options.count};
  return true;
}

static void read_configs(reader *r, lang_kernel *kernel, const lang_ast *list) {
  if (list->kind != AST_LIST && list->kind != AST_TUPLE) {
    error(r, list->span, "expected a list of Config(...)");
    return;
  }
  lang_config *configs = WF_ARENA_ARRAY(r->file->arena, (size_t)list->count + 1, lang_config);
  for (int i = 0; i < list->count; i++)
    if (read_config(r, kernel, list->items[i], &configs[kernel->config_count])) kernel->config_count++;
  kernel->configs = configs;
}

static void read_keys(reader *r, lang_kernel *kernel, const lang_ast *list) {
  const char **keys = WF_ARENA_ARRAY(r->file->arena, (size_t)list->count + 1, const char *);
  for (int i = 0; i < list->count; i++) {
    if (list->items[i]->kind != AST_STRING || lang_find_param(kernel, list->items[i]->name) < 0)
      error(r, list->items[i]->span, "this names no parameter of the kernel");
    else
      keys[kernel->key_count++] = list->items[i]->name;
  }
  kernel->keys = keys;
}

// Other arguments of @autotune say how to measure; they have no meaning here and are no data of the kernel.
static void read_autotune(reader *r, lang_kernel *kernel, const lang_ast *call) {
  for (int i = 0; i < call->count; i++) {
    const lang_ast *item = call->items[i];
    const char *name = item->kind == AST_KEYWORD ? item->name : i == 0 ? "configs" : i == 1 ? "key" : "";
    const lang_ast *value = item->kind == AST_KEYWORD ? item->a : item;
    if (strcmp(name, "configs") == 0)
      read_configs(r, kernel, value);
    else if (strcmp(name, "key") == 0)
      read_keys(r, kernel, value);
    else
      wf_warning(r->diag, lang_source_where(&r->file->s, item->span), "'%s' of autotune has no meaning here", name);
  }
}

static void read_decorators(reader *r, lang_kernel *kernel) {
  const lang_ast *marks = kernel->function->b;
  for (int i = 0; i < marks->count; i++) {
    const lang_ast *mark = marks->items[i];
    const char *name = lang_ast_last_name(mark->kind == AST_CALL ? mark->a : mark);
    if (name != NULL && strcmp(name, "jit") == 0) {
      if (mark->kind == AST_CALL && mark->count > 0)
        wf_warning(r->diag, lang_source_where(&r->file->s, mark->span), "arguments of jit have no meaning here");
      continue;
    }
    if (name != NULL && strcmp(name, "autotune") == 0 && mark->kind == AST_CALL) {
      read_autotune(r, kernel, mark);
      continue;
    }
    error(r, mark->span, "this decorator is not known");
    wf_hint(r->diag, "kernels have @jit and @autotune(configs=[...], key=[...])");
  }
}

// ---- kernels

static bool calls(const lang_ast *node, const lang_ast *callee) {
  if (node == NULL) return false;
  if (node->meaning == AST_CALLEE && node->callee == callee) return true;
  if (node->kind != AST_FUNCTION && (calls(node->a, callee) || calls(node->b, callee) || calls(node->c, callee)))
    return true;
  for (int i = 0; i < node->count; i++)
    if (calls(node->items[i], callee)) return true;
  return false;
}

static bool is_called(const lang_file *file, const lang_ast *function) {
  for (size_t i = 0; i < file->module.function_count; i++)
    if (file->module.functions[i] != function && calls(file->module.functions[i], function)) return true;
  return false;
}

// The first `grid = ...` behind the kernel's first line and before the next kernel, or else the next one at all.
static const lang_ast *find_grid(const lang_file *file, const lang_ast *function) {
  const lang_ast *found = NULL;
  for (size_t i = 0; i < file->module.grid_count; i++) {
    const lang_ast_grid *grid = &file->module.grids[i];
    if (grid->line > function->span.line) return grid->value;
    found = grid->value;
  }
  return found;
}

static void read_kernel(reader *r, const lang_ast *function, lang_kernel *kernel) {
  const lang_ast *first = function->count > 0 ? function->items[0] : NULL;
  *kernel = (lang_kernel){.name = function->name,
                          .where = lang_source_where(&r->file->s, function->name_span),
                          .function = function,
                          .grid = find_grid(r->file, function)};
  kernel->has_grid = kernel->grid != NULL;
  if (first != NULL && first->kind == AST_EXPRESSION && first->a->kind == AST_STRING) kernel->doc = first->a->name;
  read_params(r, kernel);
  read_decorators(r, kernel);
}

void lang_check_kernels(lang_file *file, wf_diag *diag) {
  reader r = {.file = file, .diag = diag};
  file->kernels = WF_ARENA_ARRAY(file->arena, file->module.function_count + 1, lang_kernel);
  for (size_t i = 0; i < file->module.function_count; i++)
    if (!is_called(file, file->module.functions[i]))
      read_kernel(&r, file->module.functions[i], &file->kernels[file->kernel_count++]);
}
