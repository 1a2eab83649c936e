// SPDX-License-Identifier: Apache-2.0
// A temporary folder in which a RISC-V program is made: its files, the compiler's command lines, and what it said.
#ifndef COMPILER_COMMAND_BUILD_H
#define COMPILER_COMMAND_BUILD_H

#include <stdio.h>

#include "base/process.h"
#include "base/text_file.h"
#include "compiler/command/elf.h"

typedef struct command_build {
  wf_arena *arena;
  wf_diag *diag;
  const char *name;  // of what is built, for messages
  const char *folder;
  const char **files, **sources;  // made in it; of them, those to be compiled
  size_t file_count, file_room, source_count, source_room;
} command_build;

// All that can fail is reported. Close in any case: the folder goes, with all that was made in it.
bool command_build_open(command_build *b, const char *name, wf_diag *diag);
void command_build_close(command_build *b);

FILE *command_build_create(command_build *b, const char *name, const char **path);
bool command_build_finish(command_build *b, FILE *file, const char *path);
bool command_build_write(command_build *b, const char *name, const void *bytes, size_t length);
// The driver's files, and the array's header, where programs include them from.
bool command_build_write_driver(command_build *b, const hw_array *array);
// A header among them.
bool command_build_write_header(command_build *b, const char *name, const char *text);
// A global label and contents from a file of its own, filled up to `bytes`; the data's file is assembler.
bool command_build_write_object(command_build *b, FILE *data, const char *label, const void *contents, size_t length,
                                size_t bytes);

typedef enum {
  COMMAND_BUILD_PLAIN,
  COMMAND_BUILD_KERNEL,  // functions of commands
} command_build_kind;

// Makes the object SOURCE.o of a source of the folder; its path.
wf_process_argv command_build_compiling(command_build *b, const char *source, command_build_kind kind,
                                        const char **object);
command_elf_result command_build_run(command_build *b, const wf_process_argv *commands, size_t count, unsigned jobs);
// Makes the program of sources and objects.
command_elf_result command_build_link(command_build *b, const char *const *parts, size_t count, const char *path);

#endif
