// SPDX-License-Identifier: Apache-2.0
// Tables of names and the binding of arguments: see builtins.h.
#include "compiler/lang/builtins.h"

#include <string.h>

const char *const lang_builtin_names[BUILTIN_COUNT] = {
#define X(name, text, parameters) text,
#include "compiler/lang/builtins.def"
#undef X
};
static const char *const builtin_parameters[BUILTIN_COUNT] = {
#define X(name, text, parameters) parameters,
#include "compiler/lang/builtins.def"
#undef X
};
const char *const lang_method_names[METHOD_COUNT] = {
#define X(name, text, call) text,
    METHODS(X)
#undef X
};
const char *const lang_dtype_names[LANG_DTYPES] = {"none", "int8", "int32", "float32"};

static const char arithmetic[] = "use + - * maximum minimum";
static const char reductions[] =
    "reductions within a block have no meaning but in softmax and layer norm; sum with dot";
static const char floats[] = "blocks are int8, int32 or float32";
static const struct {
  const char *name, *reason;
} refused[] = {
    {"log", arithmetic},
    {"sqrt", arithmetic},
    {"clamp", arithmetic},
    {"argmax", reductions},
    {"softmax", reductions},
    {"cumsum", reductions},
    {"associative_scan", reductions},
    {"atomic_add", "programs run in any order and must not write to the same place"},
    {"debug_barrier", "programs have no threads"},
    {"device_print", "kernels cannot print"},
    {"static_print", "kernels cannot print"},
    {"float16", floats},
    {"bfloat16", floats},
    {"float64", floats},
    {"int16", floats},
    {"int64", floats},
    {"uint8", floats},
    {"uint32", floats},
    {"int1", floats},
    {"allow_tf32", "products are exact"},
    {"input_precision", "products are exact"},
    {"eviction_policy", "there is no cache to advise"},
    {"cache_modifier", "there is no cache to advise"},
    {"float8e4nv", floats},
    {"float8e5", floats},
};

static int find(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

int lang_builtin_find(const char *name) { return find(lang_builtin_names, BUILTIN_COUNT, name); }
int lang_method_find(const char *name) { return find(lang_method_names, METHOD_COUNT, name); }
int lang_dtype_find(const char *name) {
  int found = find(lang_dtype_names, LANG_DTYPES, name);
  return found == LANG_NO_DTYPE ? -1 : found;
}

bool lang_builtin_is_plain(int id) {
  return id == BUILTIN_RANGE || id == BUILTIN_MIN || id == BUILTIN_MAX || id == BUILTIN_ABS || id == BUILTIN_INT ||
         id == BUILTIN_FLOAT;
}

const char *lang_builtin_refusal(const char *name) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (strcmp(refused[i].name, name) == 0) return refused[i].reason;
  return NULL;
}

// ---- arguments

typedef struct signature {
  char names[BUILTIN_ARGS_MAX][20];
  bool optional[BUILTIN_ARGS_MAX];
  int count;
} signature;

static signature signature_of(lang_builtin_id id) {
  signature s = {0};
  for (const char *p = builtin_parameters[id]; *p != 0;) {
    size_t length = strcspn(p, " ");
    s.optional[s.count] = p[length - 1] == '=';
    memcpy(s.names[s.count], p, length - s.optional[s.count]);
    s.count++;
    p += length;
    p += *p == ' ';
  }
  return s;
}

static int keyword_index(const lang_source *s, wf_diag *diag, lang_builtin_id id, const signature *sig,
                         const lang_ast *keyword) {
  lang_source_guess guess = lang_source_guess_for(keyword->name);
  for (int i = 0; i < sig->count; i++) {
    if (strcmp(sig->names[i], keyword->name) == 0) return i;
    lang_source_guess_add(&guess, sig->names[i]);
  }
  lang_source_error(s, diag, keyword->name_span, "%s() has no parameter '%s'", lang_builtin_names[id], keyword->name);
  const char *refusal = lang_builtin_refusal(keyword->name);
  if (refusal != NULL)
    wf_hint(diag, "%s", refusal);
  else if (guess.best != NULL)
    wf_hint(diag, "did you mean '%s'?", guess.best);
  return -1;
}

bool lang_builtin_bind(const lang_source *s, wf_diag *diag, lang_builtin_id id, const lang_ast *call,
                       const lang_ast **args) {
  signature sig = signature_of(id);
  memset(args, 0, BUILTIN_ARGS_MAX * sizeof *args);
  for (int i = 0; i < call->count; i++) {
    const lang_ast *item = call->items[i];
    int at = i;
    if (item->kind == AST_KEYWORD && (at = keyword_index(s, diag, id, &sig, item)) < 0) return false;
    if (at >= sig.count) {
      lang_source_error(s, diag, item->span, "%s() takes %d arguments at most", lang_builtin_names[id], sig.count);
      return false;
    }
    if (args[at] != NULL) {
      lang_source_error(s, diag, item->span, "%s() gets '%s' twice", lang_builtin_names[id], sig.names[at]);
      return false;
    }
    args[at] = item->kind == AST_KEYWORD ? item->a : item;
  }
  for (int i = 0; i < sig.count; i++)
    if (args[i] == NULL && !sig.optional[i]) {
      lang_source_error(s, diag, call->span, "%s() misses its argument '%s'", lang_builtin_names[id], sig.names[i]);
      return false;
    }
  return true;
}
