// SPDX-License-Identifier: Apache-2.0
// Instances: values for the parameters of a kernel, and its grid.
#include <string.h>

#include "compiler/lang/builtins.h"
#include "compiler/lang/check.h"
#include "compiler/lang/scalar.h"

static const int64_t programs_max = 1 << 22;

lang_instance *lang_instantiate(lang_file *file, const lang_kernel *kernel) {
  lang_instance *instance = WF_ARENA_NEW(file->arena, lang_instance);
  size_t count = (size_t)kernel->param_count;
  *instance = (lang_instance){.file = file,
                              .kernel = kernel,
                              .values = WF_ARENA_ARRAY(file->arena, count, lang_value),
                              .dtypes = WF_ARENA_ARRAY(file->arena, count, lang_dtype),
                              .grid = {1, 1, 1}};
  for (size_t i = 0; i < count; i++) {
    instance->values[i] = kernel->params[i].by_default;
    instance->dtypes[i] = kernel->params[i].dtype;
  }
  return instance;
}

static void guess_param(void *context, lang_source_guess *guess) {
  const lang_kernel *kernel = ((const lang_instance *)context)->kernel;
  for (int i = 0; i < kernel->param_count; i++) lang_source_guess_add(guess, kernel->params[i].name);
}

static int find_param(lang_instance *instance, const char *name, wf_diag *diag) {
  int index = lang_find_param(instance->kernel, name);
  if (index >= 0) return index;
  lang_source_guess guess = lang_source_guess_for(name);
  guess_param(instance, &guess);
  wf_error(diag, instance->kernel->where, "kernel '%s' has no parameter '%s'", instance->kernel->name, name);
  if (guess.best != NULL) wf_hint(diag, "did you mean '%s'?", guess.best);
  return -1;
}

static bool set_dtype(lang_instance *instance, int index, const char *text, wf_diag *diag) {
  const lang_param *param = &instance->kernel->params[index];
  int dtype = lang_dtype_find(text);
  if (param->dtype_param >= 0) {
    wf_error(diag, param->where, "'%s' is a pointer to the type that '%s' says", param->name,
             instance->kernel->params[param->dtype_param].name);
    wf_hint(diag, "set %s=%s", instance->kernel->params[param->dtype_param].name, text);
    return false;
  }
  if (dtype < 0 || (param->dtype != LANG_NO_DTYPE && (int)param->dtype != dtype)) {
    wf_error(diag, param->where, "'%s' is a pointer to %s, not '%s'", param->name,
             param->dtype != LANG_NO_DTYPE ? lang_dtype_names[param->dtype] : "int8, int32 or float32", text);
    return false;
  }
  instance->dtypes[index] = (lang_dtype)dtype;
  return true;
}

bool lang_set(lang_instance *instance, const char *name, lang_value value, wf_diag *diag) {
  int index = find_param(instance, name, diag);
  if (index < 0) return false;
  const lang_param *param = &instance->kernel->params[index];
  if (param->kind == LANG_POINTER && value.kind == LANG_TEXT) return set_dtype(instance, index, value.text, diag);
  if (param->kind == LANG_POINTER && value.kind == LANG_TYPE)
    return set_dtype(instance, index, lang_dtype_names[value.integer], diag);
  if (param->kind == LANG_POINTER) {
    wf_error(diag, param->where, "'%s' is a pointer and takes no value", name);
    return false;
  }
  instance->values[index] = value;
  if (value.kind == LANG_TEXT)
    instance->values[index].text = wf_arena_text(instance->file->arena, value.text, strlen(value.text));
  return true;
}

bool lang_set_args(lang_instance *instance, const lang_args *args, wf_diag *diag) {
  for (int i = 0; i < args->count; i++)
    if (!lang_set(instance, args->items[i].name, args->items[i].value, diag)) return false;
  return true;
}

bool lang_set_config(lang_instance *instance, int index, wf_diag *diag) {
  const lang_kernel *kernel = instance->kernel;
  if (index < 0 || index >= kernel->config_count) {
    wf_error(diag, kernel->where, "kernel '%s' has %d configurations, there is no number %d", kernel->name,
             kernel->config_count, index);
    return false;
  }
  const lang_config *config = &kernel->configs[index];
  return lang_set_args(instance, &(lang_args){config->values, config->value_count}, diag);
}

void lang_set_grid(lang_instance *instance, int64_t x, int64_t y, int64_t z) {
  instance->grid[0] = x;
  instance->grid[1] = y;
  instance->grid[2] = z;
  instance->grid_given = true;
}

// ---- completeness and grid

static bool lookup(void *context, const char *name, lang_value *value) {
  const lang_instance *instance = context;
  int index = lang_find_param(instance->kernel, name);
  if (index < 0 || instance->values[index].kind == LANG_UNSET) return false;
  *value = instance->values[index];
  return true;
}

static bool eval_grid(lang_instance *instance, const lang_scalar_context *c, const lang_ast *node, wf_diag *diag) {
  bool tuple = node->kind == AST_TUPLE || node->kind == AST_LIST;
  int axes = tuple ? node->count : 1;
  if (axes < 1 || axes > LANG_GRID_AXES) {
    lang_source_error(c->s, diag, node->span, "a grid has 1 to %d axes", LANG_GRID_AXES);
    return false;
  }
  for (int i = 0; i < axes; i++) {
    const lang_ast *axis = tuple ? node->items[i] : node;
    lang_value value;
    if (!lang_scalar_eval(c, axis, &value)) return false;
    if (value.kind != LANG_INT) {
      lang_source_error(c->s, diag, axis->span, "the grid needs integers");
      return false;
    }
    instance->grid[i] = value.integer;
  }
  return true;
}

static bool find_grid(lang_instance *instance, wf_diag *diag) {
  const lang_kernel *kernel = instance->kernel;
  if (!instance->grid_given && !kernel->has_grid) {
    wf_error(diag, kernel->where, "the grid of kernel '%s' is not known", kernel->name);
    wf_hint(diag, "write `grid = lambda META: (cdiv(M, META[\"BLOCK_M\"]),)` behind the kernel");
    return false;
  }
  if (!instance->grid_given) {
    bool is_lambda = kernel->grid->kind == AST_LAMBDA;
    const lang_scalar_context c = {.s = &instance->file->s,
                                   .diag = diag,
                                   .meta = is_lambda ? kernel->grid->name : NULL,
                                   .lookup = lookup,
                                   .guess = guess_param,
                                   .context = instance};
    if (!eval_grid(instance, &c, is_lambda ? kernel->grid->a : kernel->grid, diag)) return false;
  }
  int64_t programs = 1;
  for (int i = 0; i < LANG_GRID_AXES; i++)
    if (instance->grid[i] < 1 || __builtin_mul_overflow(programs, instance->grid[i], &programs) ||
        programs > programs_max) {
      wf_error(diag, kernel->where, "a grid of %lld x %lld x %lld programs cannot be run", (long long)instance->grid[0],
               (long long)instance->grid[1], (long long)instance->grid[2]);
      return false;
    }
  return true;
}

// Pointers whose type is the value of a parameter get it.
static void set_types(lang_instance *instance, wf_diag *diag) {
  const lang_kernel *kernel = instance->kernel;
  for (int i = 0; i < kernel->param_count; i++) {
    if (kernel->params[i].dtype_param < 0) continue;
    const lang_param *param = &kernel->params[kernel->params[i].dtype_param];
    const lang_value *type = &instance->values[kernel->params[i].dtype_param];
    if (type->kind == LANG_TYPE)
      instance->dtypes[i] = (lang_dtype)type->integer;
    else if (type->kind != LANG_UNSET)
      wf_error(diag, param->where, "'%s' is the type of '%s': int8, int32 or float32", param->name,
               kernel->params[i].name);
  }
}

bool lang_ready(lang_instance *instance, wf_diag *diag) {
  const lang_kernel *kernel = instance->kernel;
  unsigned errors = diag->errors;
  set_types(instance, diag);
  for (int i = 0; i < kernel->param_count; i++) {
    const lang_param *param = &kernel->params[i];
    if (param->kind != LANG_POINTER && instance->values[i].kind == LANG_UNSET)
      wf_error(diag, param->where, "parameter '%s' of kernel '%s' has no value", param->name, kernel->name);
    if (param->kind == LANG_POINTER && param->dtype_param < 0 && instance->dtypes[i] == LANG_NO_DTYPE) {
      wf_error(diag, param->where, "the type of the elements of '%s' is not known", param->name);
      wf_hint(diag, "annotate it (`%s: int8`) or set it (%s=int8)", param->name, param->name);
    }
  }
  return diag->errors == errors && find_grid(instance, diag);
}
