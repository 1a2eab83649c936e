// Numbers at compile time, with Python's meaning: // and % round down, / gives a float, ** and shifts.
#ifndef COMPILER_LANG_SCALAR_H
#define COMPILER_LANG_SCALAR_H

#include "compiler/lang/ast.h"
#include "compiler/lang/lang.h"

// NULL, or why there is no result.
const char *scalar_binary(ast_op op, lang_value a, lang_value b, lang_value *result);
const char *scalar_unary(ast_op op, lang_value a, lang_value *result);
bool scalar_is_true(lang_value a);
double scalar_number(lang_value a);
const char *scalar_cdiv(lang_value a, lang_value b, lang_value *result);

// An expression of numbers outside functions: defaults, configurations, grids.
typedef struct scalar_context {
  const source *s;
  wf_diag *diag;
  const char *meta;  // the parameter of a grid's lambda: META["X"] looks up X
  bool (*lookup)(void *context, const char *name, lang_value *value);
  void (*guess)(void *context, source_guess *guess);  // adds the names that there are; may be NULL
  void *context;
} scalar_context;
// The value of a literal; false if the node is none.
bool scalar_literal(const ast *node, lang_value *value);
bool scalar_eval(const scalar_context *c, const ast *node, lang_value *value);

#endif
