// SPDX-License-Identifier: Apache-2.0
// Numbers at compile time, with Python's meaning: // and % round down, / gives a float, ** and shifts.
#ifndef COMPILER_LANG_SCALAR_H
#define COMPILER_LANG_SCALAR_H

#include "compiler/lang/ast.h"
#include "compiler/lang/lang.h"

// NULL, or why there is no result.
const char *lang_scalar_binary(lang_ast_op op, lang_value a, lang_value b, lang_value *result);
const char *lang_scalar_unary(lang_ast_op op, lang_value a, lang_value *result);
bool lang_scalar_is_true(lang_value a);
double lang_scalar_number(lang_value a);
bool lang_scalar_infinity(lang_value *v);  // float("inf"), float("-inf"): a text becomes that; false: it is none
const char *lang_scalar_cdiv(lang_value a, lang_value b, lang_value *result);

// An expression of numbers outside functions: defaults, configurations, grids.
typedef struct lang_scalar_context {
  const lang_source *s;
  wf_diag *diag;
  const char *meta;  // the parameter of a grid's lambda: META["X"] looks up X
  bool (*lookup)(void *context, const char *name, lang_value *value);
  void (*guess)(void *context, lang_source_guess *guess);  // adds the names that there are; may be NULL
  void *context;
} lang_scalar_context;
// The value of a literal; false if the node is none.
bool lang_scalar_literal(const lang_ast *node, lang_value *value);
bool lang_scalar_eval(const lang_scalar_context *c, const lang_ast *node, lang_value *value);

#endif
