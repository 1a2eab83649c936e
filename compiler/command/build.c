// SPDX-License-Identifier: Apache-2.0
// See build.h.
#include "compiler/command/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/output.h"
#include "compiler/command/driver_files.h"

#define COMPILER "riscv64-unknown-elf-gcc"
enum { WORDS_MAX = 48, LOG_BYTES = 2000 };

static bool fail(command_build *b, const char *path) {
  wf_error(b->diag, wf_in_file(path), "cannot write the file: %s", strerror(errno));
  return false;
}

static const char *in_folder(command_build *b, const char *name) {
  return wf_arena_format(b->arena, "%s/%s", b->folder, name);
}

// ---- the folder

static const char *const folders[] = {"weft", "isa"};  // of headers
enum { FOLDERS = sizeof folders / sizeof *folders };

bool command_build_open(command_build *b, const char *name, wf_diag *diag) {
  *b = (command_build){.arena = wf_arena_create(), .diag = diag, .name = name};
  const char *base = getenv("TMPDIR");
  char *folder = wf_arena_format(b->arena, "%s/weft-XXXXXX", base == NULL || *base == '\0' ? "/tmp" : base);
  b->folder = mkdtemp(folder);
  if (b->folder == NULL) return fail(b, folder);
  for (int i = 0; i < FOLDERS; i++)
    if (mkdir(in_folder(b, folders[i]), 0777) != 0) return fail(b, in_folder(b, folders[i]));
  return true;
}

void command_build_close(command_build *b) {
  for (size_t i = 0; i < b->file_count; i++) unlink(b->files[i]);
  for (int i = 0; b->folder != NULL && i < FOLDERS; i++) rmdir(in_folder(b, folders[i]));
  if (b->folder != NULL) rmdir(b->folder);
  wf_arena_destroy(b->arena);
}

// ---- files

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void will_be_made(command_build *b, const char *path) {
  *WF_ARENA_PUSH(b->arena, b->files, b->file_count, &b->file_room) = path;
}

FILE *command_build_create(command_build *b, const char *name, const char **path) {
  *path = in_folder(b, name);
  will_be_made(b, *path);
  if (ends_with(name, ".c") || ends_with(name, ".S"))
    *WF_ARENA_PUSH(b->arena, b->sources, b->source_count, &b->source_room) = *path;
  FILE *file = fopen(*path, "wb");
  if (file == NULL) fail(b, *path);
  return file;
}

bool command_build_finish(command_build *b, FILE *file, const char *path) {
  const bool good = !ferror(file);
  if (fclose(file) != 0 || !good) return fail(b, path);
  return true;
}

bool command_build_write(command_build *b, const char *name, const void *bytes, size_t length) {
  const char *path;
  FILE *file = command_build_create(b, name, &path);
  if (file == NULL) return false;
  if (length > 0) fwrite(bytes, 1, length, file);
  return command_build_finish(b, file, path);
}

bool command_build_write_header(command_build *b, const char *name, const char *text) {
  const char *folder = strcmp(name, "weft_isa.h") == 0 ? "isa" : "weft";
  return command_build_write(b, wf_arena_format(b->arena, "%s/%s", folder, name), text, strlen(text));
}

bool command_build_write_driver(command_build *b, const hw_array *array) {
  for (size_t i = 0; i < command_driver_file_count; i++) {
    const wf_text_file *file = &command_driver_files[i];
    const bool good = ends_with(file->name, ".h") ? command_build_write_header(b, file->name, file->text)
                                                  : command_build_write(b, file->name, file->text, strlen(file->text));
    if (!good) return false;
  }
  const char *path;
  FILE *file = command_build_create(b, "weft_array.h", &path);
  if (file == NULL) return false;
  const bool good = hw_write_c_header(array, file);
  return command_build_finish(b, file, path) && good;
}

bool command_build_write_object(command_build *b, FILE *data, const char *label, const void *contents, size_t length,
                                size_t bytes) {
  const char *name = wf_arena_format(b->arena, "%s.bin", label);
  fprintf(data, "  .balign 64\n  .globl %s\n%s:\n  .incbin \"%s\"\n", label, label, in_folder(b, name));
  if (bytes > length) fprintf(data, "  .zero %zu\n", bytes - length);
  return command_build_write(b, name, contents, length);
}

// ---- the compiler

typedef struct words {
  const char **word;
  size_t count;
} words;

static void add(words *w, const char *word) { w->word[w->count++] = word; }

static void add_all(words *w, const char *const *more, size_t count) {
  for (size_t i = 0; i < count; i++) add(w, more[i]);
}

// driver/CMakeLists.txt has the same flags; -fno-builtin and -fno-tree-loop-distribute-patterns are for string.c, whose
// loops must not become calls of themselves.
static words command_with(command_build *b, size_t more) {
  static const char *const flags[] = {COMPILER,
                                      "-std=gnu17",
                                      "-march=rv64imafdc",
                                      "-mabi=lp64d",
                                      "-mcmodel=medany",
                                      "-O2",
                                      "-ffreestanding",
                                      "-fno-pic",
                                      "-ffunction-sections",
                                      "-fdata-sections",
                                      "-ffp-contract=off",
                                      "-fno-math-errno",
                                      "-fno-builtin",
                                      "-Wall",
                                      "-Wextra",
                                      "-Werror",
                                      "-fno-tree-loop-distribute-patterns"};
  words w = {WF_ARENA_ARRAY(b->arena, WORDS_MAX + more, const char *), 0};
  add_all(&w, flags, sizeof flags / sizeof *flags);
  add(&w, wf_arena_format(b->arena, "-I%s", b->folder));
  return w;
}

// Scheduling would take half of the time and finds nothing to do in functions of commands: these are volatile, and
// their operands come one instruction before. They keep more registers than the calling convention asks of them:
// operands of products stay in registers while moves are carried out. Nothing else is called from there.
static void add_kernel_flags(words *w) {
  static const char *const flags[] = {
      "-fno-schedule-insns", "-fno-schedule-insns2", "-fno-jump-tables", "-fcall-saved-t2", "-fcall-saved-t3",
      "-fcall-saved-t4",     "-fcall-saved-t5",      "-fcall-saved-t6",  "-fcall-saved-a2", "-fcall-saved-a4",
      "-fcall-saved-a5",     "-fcall-saved-a6",      "-fcall-saved-a7"};
  add_all(w, flags, sizeof flags / sizeof *flags);
}

wf_process_argv command_build_compiling(command_build *b, const char *source, command_build_kind kind,
                                        const char **object) {
  words w = command_with(b, 0);
  *object = wf_arena_format(b->arena, "%s.o", source);
  will_be_made(b, *object);
  if (kind == COMMAND_BUILD_KERNEL) add_kernel_flags(&w);
  add(&w, "-c");
  add(&w, source);
  add(&w, "-o");
  add(&w, *object);
  return w.word;
}

static wf_process_argv linking(command_build *b, const char *const *parts, size_t count, const char *path) {
  static const char *const flags[] = {"-nostdlib", "-nostartfiles", "-static", "-Wl,--gc-sections",
                                      "-Wl,--no-warn-rwx-segments"};
  words w = command_with(b, count);
  add_all(&w, flags, sizeof flags / sizeof *flags);
  add(&w, wf_arena_format(b->arena, "-Wl,-T,%s/weft.ld", b->folder));
  add_all(&w, parts, count);
  add(&w, "-lgcc");
  add(&w, "-o");
  add(&w, path);
  return w.word;
}

static void report_log(command_build *b, const char *log) {
  char text[LOG_BYTES + 1] = "";
  FILE *file = fopen(log, "rb");
  if (file != NULL) {
    text[fread(text, 1, LOG_BYTES, file)] = '\0';
    fclose(file);
  }
  wf_error(b->diag, wf_in_file(b->name), COMPILER " failed:\n%s", text);
}

command_elf_result command_build_run(command_build *b, const wf_process_argv *commands, size_t count, unsigned jobs) {
  const char *log = in_folder(b, "log");
  will_be_made(b, log);
  switch (wf_process_run(commands, count, jobs, log)) {
    case WF_PROCESS_DONE:
      return COMMAND_ELF_DONE;
    case WF_PROCESS_MISSING:
      wf_error(b->diag, wf_in_file(b->name), COMPILER " not found");
      wf_hint(b->diag, "install it with: apt-get install gcc-riscv64-unknown-elf");
      return COMMAND_ELF_NO_COMPILER;
    case WF_PROCESS_FAILED:
      break;
  }
  report_log(b, log);
  return COMMAND_ELF_FAILED;
}

command_elf_result command_build_link(command_build *b, const char *const *parts, size_t count, const char *path) {
  char *beside = wf_output_beside(path);
  const wf_process_argv command = linking(b, parts, count, beside);
  command_elf_result result = command_build_run(b, &command, 1, 1);
  if (result == COMMAND_ELF_DONE && !wf_output_publish(beside, path, b->diag)) result = COMMAND_ELF_FAILED;
  if (result != COMMAND_ELF_DONE) unlink(beside);
  wf_free(beside);
  return result;
}
