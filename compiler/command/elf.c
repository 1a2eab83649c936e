// SPDX-License-Identifier: Apache-2.0
// Builds ELF programs: see elf.h. The driver's files, the array's header, the program and its main; the kernel's
// functions are compiled by themselves, the rest with the link.
#include "compiler/command/elf.h"

#include <string.h>

#include "base/alloc.h"
#include "compiler/command/build.h"
#include "compiler/command/private.h"

// Tensors with given contents.
static bool write_data(command_build *b, const command_program *program, const command_elf_config *config) {
  const char *path;
  FILE *file = command_build_create(b, "data.S", &path);
  if (file == NULL) return false;
  fputs("  .data\n", file);
  bool good = true;
  for (int t = 0; good && t < program->tensor_count; t++) {
    if (config->bytes == NULL || config->bytes[t] == NULL) continue;
    const size_t bytes = command_tensor_bytes(&program->tensors[t]);
    good = command_build_write_object(b, file, wf_arena_format(b->arena, "weft_tensor%d", t), config->bytes[t], bytes,
                                      bytes);
  }
  return command_build_finish(b, file, path) && good;
}

static bool write_main(command_build *b, const command_program *program, const command_elf_config *config) {
  const char *path;
  FILE *file = command_build_create(b, "main.c", &path);
  if (file == NULL) return false;
  const bool good = command_write_main(program, config, file, b->diag);
  return command_build_finish(b, file, path) && good;
}

static bool write_kernel(command_build *b, const command_program *program, const char **path) {
  FILE *file = command_build_create(b, "kernel.c", path);
  if (file == NULL) return false;
  const bool good = command_write_c(program, file, b->diag);
  return command_build_finish(b, file, *path) && good;
}

static command_elf_result build(command_build *b, const command_program *program, const command_elf_config *config,
                                const char *path) {
  if (!command_build_write_driver(b, program->array) || !write_data(b, program, config) ||
      !write_main(b, program, config))
    return COMMAND_ELF_FAILED;
  const size_t parts = b->source_count;  // the kernel is none of them
  const char *kernel, *object;
  if (!write_kernel(b, program, &kernel)) return COMMAND_ELF_FAILED;
  const wf_process_argv compiling = command_build_compiling(b, kernel, COMMAND_BUILD_KERNEL, &object);
  const command_elf_result compiled = command_build_run(b, &compiling, 1, 1);
  if (compiled != COMMAND_ELF_DONE) return compiled;
  const char **all = WF_ARENA_ARRAY(b->arena, parts + 1, const char *);
  memcpy(all, b->sources, parts * sizeof *all);
  all[parts] = object;
  return command_build_link(b, all, parts + 1, path);
}

command_elf_result command_write_elf(const command_program *program, const command_elf_config *config, const char *path,
                                     wf_diag *diag) {
  command_build b;
  const command_elf_result result =
      command_build_open(&b, program->name, diag) ? build(&b, program, config, path) : COMMAND_ELF_FAILED;
  command_build_close(&b);
  return result;
}
