// SPDX-License-Identifier: Apache-2.0
// The names of the kernel language: functions with their parameters, methods of blocks, types, and the names of Triton
// that have no meaning here, each with its reason.
#ifndef COMPILER_LANG_BUILTINS_H
#define COMPILER_LANG_BUILTINS_H

#include "compiler/lang/ast.h"
#include "compiler/lang/lang.h"

typedef enum {
#define X(name, text, parameters) BUILTIN_##name,
#include "compiler/lang/builtins.def"
#undef X
  BUILTIN_COUNT
} lang_builtin_id;
extern const char *const lang_builtin_names[BUILTIN_COUNT];

// X(NAME, text, is a call)
#define METHODS(X)            \
  X(TO, "to", true)           \
  X(RESHAPE, "reshape", true) \
  X(TRANSPOSED, "T", false)   \
  X(DTYPE, "dtype", false)    \
  X(TYPE, "type", false)      \
  X(ELEMENT, "element_ty", false)
typedef enum {
#define X(name, text, call) METHOD_##name,
  METHODS(X)
#undef X
      METHOD_COUNT
} lang_method_id;
extern const char *const lang_method_names[METHOD_COUNT];

// Indexes, or -1.
int lang_builtin_find(const char *name);
bool lang_builtin_is_plain(int id);  // known without an import: range, min, int ...
int lang_method_find(const char *name);
int lang_dtype_find(const char *name);
// Why a name of Triton is refused; NULL: it is not one that is known.
const char *lang_builtin_refusal(const char *name);

enum { BUILTIN_ARGS_MAX = 8 };
// The arguments of a call in the order of the parameters, NULL for what is left out. Reports what does not fit.
bool lang_builtin_bind(const lang_source *s, wf_diag *diag, lang_builtin_id id, const lang_ast *call,
                       const lang_ast **args);

#endif
