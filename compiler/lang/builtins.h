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
} builtin_id;
extern const char *const builtin_names[BUILTIN_COUNT];

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
} method_id;
extern const char *const method_names[METHOD_COUNT];

// Indexes, or -1.
int builtin_find(const char *name);
bool builtin_is_plain(int id);  // known without an import: range, min, int ...
int method_find(const char *name);
int dtype_find(const char *name);
// Why a name of Triton is refused; NULL: it is not one that is known.
const char *builtin_refusal(const char *name);

enum { BUILTIN_ARGS_MAX = 8 };
// The arguments of a call in the order of the parameters, NULL for what is left out. Reports what does not fit.
bool builtin_bind(const source *s, wf_diag *diag, builtin_id id, const ast *call, const ast **args);

#endif
