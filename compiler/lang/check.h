// SPDX-License-Identifier: Apache-2.0
// What can be said about a file without running it: every name means something, every function has its slots.
#ifndef COMPILER_LANG_CHECK_H
#define COMPILER_LANG_CHECK_H

#include "compiler/lang/ast.h"
#include "compiler/lang/lang.h"

struct lang_file {
  wf_arena *arena;
  lang_source s;
  lang_ast_module module;
  lang_kernel *kernels;
  int kernel_count;
};

// Resolves the names of all functions; reports all it cannot.
void lang_check_names(lang_file *file, wf_diag *diag);
// What a name at module level means (types and constexpr in annotations); the node is marked.
void lang_check_module_name(lang_file *file, lang_ast *node);
const lang_ast *lang_check_find_function(const lang_file *file, const char *name);

// lang_check_kernels: parameters, configs, keys and grids of the functions that no other one calls.
void lang_check_kernels(lang_file *file, wf_diag *diag);

#endif
