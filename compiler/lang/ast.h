// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a file. Every node knows its place; names are interned (compare pointers).
#ifndef COMPILER_LANG_AST_H
#define COMPILER_LANG_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/lang/source.h"

// X(NAME): what the fields hold
#define AST_KINDS(X)                                                    \
  X(NAME)        /* name */                                             \
  X(INT)         /* integer */                                          \
  X(FLOAT)       /* number */                                           \
  X(STRING)      /* name: its text */                                   \
  X(BOOL)        /* integer */                                          \
  X(NONE)        /* */                                                  \
  X(TUPLE)       /* items */                                            \
  X(LIST)        /* items */                                            \
  X(DICT)        /* items: keys and values in turn */                   \
  X(ATTRIBUTE)   /* a . name */                                         \
  X(SUBSCRIPT)   /* a [items] */                                        \
  X(SLICE)       /* the whole of a dimension: ":" */                    \
  X(CALL)        /* a (items); keyword arguments as KEYWORD */          \
  X(KEYWORD)     /* name = a */                                         \
  X(UNARY)       /* op a */                                             \
  X(BINARY)      /* a op b */                                           \
  X(COMPARE)     /* a op b */                                           \
  X(CONDITIONAL) /* a if b else c */                                    \
  X(LAMBDA)      /* name: the only parameter or NULL; a */              \
  X(ASSIGN)      /* a = b */                                            \
  X(AUGMENT)     /* a op= b */                                          \
  X(FOR)         /* for a in b: items */                                \
  X(IF)          /* if a: items, else b (a BLOCK) or NULL */            \
  X(BLOCK)       /* items */                                            \
  X(RETURN)      /* a or NULL */                                        \
  X(EXPRESSION)  /* a */                                                \
  X(PASS)        /* */                                                  \
  X(FUNCTION)    /* name (parameters), items; b: BLOCK of decorators */ \
  X(PARAMETER)   /* name: a (annotation or NULL) = b (default or NULL) */
typedef enum {
#define X(name) AST_##name,
  AST_KINDS(X)
#undef X
} lang_ast_kind;

// X(NAME, text)
#define AST_OPS(X) \
  X(ADD, "+")      \
  X(SUB, "-")      \
  X(MUL, "*")      \
  X(DIV, "/")      \
  X(FLOOR, "//")   \
  X(MOD, "%")      \
  X(POW, "**")     \
  X(SHL, "<<")     \
  X(SHR, ">>")     \
  X(BIT_AND, "&")  \
  X(BIT_OR, "|")   \
  X(BIT_XOR, "^")  \
  X(MATMUL, "@")   \
  X(LT, "<")       \
  X(LE, "<=")      \
  X(GT, ">")       \
  X(GE, ">=")      \
  X(EQ, "==")      \
  X(NE, "!=")      \
  X(AND, "and") X(OR, "or") X(NOT, "not") X(NEG, "-") X(PLUS, "+") X(INVERT, "~") X(IS, "is") X(IS_NOT, "is not")
typedef enum {
#define X(name, text) AST_##name,
  AST_OPS(X)
#undef X
      AST_OP_COUNT
} lang_ast_op;
extern const char *const lang_ast_op_texts[AST_OP_COUNT];

// What a NAME or ATTRIBUTE stands for, found by the checks: a variable of the function, or something of the language.
typedef enum { AST_UNRESOLVED, AST_LOCAL, AST_BUILTIN, AST_DTYPE, AST_CALLEE, AST_MODULE, AST_METHOD } lang_ast_meaning;

typedef struct lang_ast {
  lang_ast_kind kind;
  lang_source_span span;
  lang_ast_op op;
  const char *name;
  lang_source_span name_span;  // FUNCTION, ATTRIBUTE, KEYWORD
  int64_t integer;
  double number;
  struct lang_ast *a, *b, *c;
  struct lang_ast **items, **params;
  int count, param_count;
  lang_ast_meaning meaning;
  int index;                // LOCAL: its slot; BUILTIN: lang_builtin_id; DTYPE: lang_dtype; METHOD: lang_method_id
  struct lang_ast *callee;  // CALLEE: the function
  const char **locals;      // FUNCTION: names of its variables, parameters first
  int local_count;
  int depth;       // of the tree below chains of operators
  bool *pointers;  // FUNCTION: which of its variables are pointers, once that was asked
} lang_ast;

// What a module-level import makes known: `module` NULL for a name of its own.
typedef struct lang_ast_import {
  const char *module;  // "triton.language"
  const char *name;    // imported from it, "*" for all, NULL: the module itself
  const char *as;      // the name it has here
} lang_ast_import;

// A module: its functions with @jit, every `grid = ...` with the line it stands on, and its imports.
typedef struct lang_ast_grid {
  lang_ast *value;  // a LAMBDA or an expression
  unsigned line;
} lang_ast_grid;

typedef struct lang_ast_module {
  lang_ast **functions;
  lang_ast_grid *grids;
  lang_ast_import *imports;
  size_t function_count, grid_count, import_count;
} lang_ast_module;

// Reports what it does not know and goes on; `module` holds what could be read.
void lang_ast_parse(const lang_source *s, wf_arena *arena, wf_diag *diag, lang_ast_module *module);

// The last part of a dotted name ("tl.load" -> "load"); NULL if it is none.
const char *lang_ast_last_name(const lang_ast *a);

#endif
