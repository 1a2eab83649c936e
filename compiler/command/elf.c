// Builds ELF programs: see elf.h. Everything is written into a temporary folder: the driver's files, which travel in
// the tool, the array's header, the program and its main; one call of the RISC-V compiler makes the ELF; the folder
// goes.
#include "compiler/command/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/command/driver_files.h"
#include "compiler/command/private.h"
#include "hw/base/alloc.h"
#include "sim/rtl/process.h"

#define COMPILER "riscv64-unknown-elf-gcc"
enum { WORDS_MAX = 64, LOG_BYTES = 2000 };

typedef struct build {
  wf_arena *arena;
  const command_program *program;
  const command_elf_config *config;
  wf_diag *diag;
  const char *folder;
  const char *files[WORDS_MAX];  // made in it
  size_t file_count;
} build;

static bool fail(build *b, const char *path) {
  wf_error(b->diag, wf_in_file(path), "cannot write the file: %s", strerror(errno));
  return false;
}

// A file in the folder, to be removed later.
static FILE *create(build *b, const char *name, const char **path) {
  *path = wf_arena_format(b->arena, "%s/%s", b->folder, name);
  b->files[b->file_count++] = *path;
  FILE *file = fopen(*path, "wb");
  if (file == NULL) fail(b, *path);
  return file;
}

static bool finish(build *b, FILE *file, const char *path) {
  bool good = !ferror(file);
  if (fclose(file) != 0 || !good) return fail(b, path);
  return true;
}

static bool write_text(build *b, const char *name, const char *text, size_t length) {
  const char *path;
  FILE *file = create(b, name, &path);
  if (file == NULL) return false;
  fwrite(text, 1, length, file);
  return finish(b, file, path);
}

// Headers lie where programs include them from.
static const char *place_of(build *b, const char *name) {
  const size_t length = strlen(name);
  if (strcmp(name, "weft_isa.h") == 0) return wf_arena_format(b->arena, "isa/%s", name);
  return length > 2 && strcmp(name + length - 2, ".h") == 0 ? wf_arena_format(b->arena, "weft/%s", name) : name;
}

static bool write_driver(build *b) {
  for (size_t i = 0; i < command_driver_file_count; i++) {
    const wf_text_file *file = &command_driver_files[i];
    if (!write_text(b, place_of(b, file->name), file->text, strlen(file->text))) return false;
  }
  return true;
}

// Tensors with given contents.
static bool write_data(build *b) {
  const char *path;
  FILE *file = create(b, "data.S", &path);
  if (file == NULL) return false;
  fputs("  .data\n", file);
  bool good = true;
  for (int t = 0; good && t < b->program->tensor_count; t++) {
    if (b->config->bytes == NULL || b->config->bytes[t] == NULL) continue;
    char *name = wf_arena_format(b->arena, "tensor%d.bin", t);
    fprintf(file, "  .balign 64\n  .globl weft_tensor%d\nweft_tensor%d:\n  .incbin \"%s/%s\"\n", t, t, b->folder, name);
    good = write_text(b, name, (const char *)b->config->bytes[t], command_tensor_bytes(&b->program->tensors[t]));
  }
  return finish(b, file, path) && good;
}

static bool write_program(build *b) {
  const char *path;
  FILE *file = create(b, "kernel.c", &path);
  if (file == NULL) return false;
  bool good = command_write_c(b->program, file, b->diag);
  if (!finish(b, file, path) || !good) return false;
  if ((file = create(b, "main.c", &path)) == NULL) return false;
  good = command_write_main(b->program, b->config, file, b->diag);
  if (!finish(b, file, path) || !good) return false;
  if ((file = create(b, "weft_array.h", &path)) == NULL) return false;
  good = hw_write_c_header(b->program->array, file);
  return finish(b, file, path) && good;
}

static bool write_files(build *b) {
  static const char *const folders[] = {"weft", "isa"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    char *path = wf_arena_format(b->arena, "%s/%s", b->folder, folders[i]);
    if (mkdir(path, 0777) != 0) return fail(b, path);
  }
  return write_driver(b) && write_data(b) && write_program(b);
}

static void report_log(build *b, const char *log) {
  char text[LOG_BYTES + 1] = "";
  FILE *file = fopen(log, "rb");
  if (file != NULL) {
    text[fread(text, 1, LOG_BYTES, file)] = '\0';
    fclose(file);
  }
  wf_error(b->diag, wf_in_file(b->program->name), COMPILER " failed:\n%s", text);
}

// driver/CMakeLists.txt has the same flags; -fno-builtin and -fno-tree-loop-distribute-patterns are for string.c, whose
// loops must not become calls of themselves. Scheduling would take half of the time and finds nothing to do: commands
// are volatile, and their operands come one instruction before.
static size_t put_words(const char **words, size_t count, const char *const *more, size_t length) {
  for (size_t i = 0; i < length; i++) words[count++] = more[i];
  return count;
}

// Runs the compiler with its usual flags and these words.
static command_elf_result compile(build *b, const char *const *more, size_t length) {
  static const char *const flags[] = {"-std=gnu17",
                                      "-march=rv64imafdc",
                                      "-mabi=lp64d",
                                      "-mcmodel=medany",
                                      "-O2",
                                      "-ffreestanding",
                                      "-fno-pic",
                                      "-ffunction-sections",
                                      "-fdata-sections",
                                      "-fno-builtin",
                                      "-Wall",
                                      "-Wextra",
                                      "-Werror",
                                      "-fno-tree-loop-distribute-patterns",
                                      "-fno-schedule-insns",
                                      "-fno-schedule-insns2"};
  const char *words[WORDS_MAX] = {COMPILER};
  size_t count = put_words(words, 1, flags, sizeof flags / sizeof *flags);
  words[count++] = wf_arena_format(b->arena, "-I%s", b->folder);
  put_words(words, count, more, length);
  char *log = wf_arena_format(b->arena, "%s/log", b->folder);
  b->files[b->file_count++] = log;
  const sim_process_argv command = words;
  switch (sim_process_run(&command, 1, 1, log)) {
    case SIM_PROCESS_DONE:
      return COMMAND_ELF_DONE;
    case SIM_PROCESS_MISSING:
      wf_error(b->diag, wf_in_file(b->program->name), COMPILER " not found");
      wf_hint(b->diag, "install it with: apt-get install gcc-riscv64-unknown-elf");
      return COMMAND_ELF_NO_COMPILER;
    case SIM_PROCESS_FAILED:
      break;
  }
  report_log(b, log);
  return COMMAND_ELF_FAILED;
}

// The kernel's functions keep more registers than the calling convention asks of them: operands of products stay in
// registers while moves are carried out. Nothing else is called from there.
static command_elf_result compile_kernel(build *b, const char *object) {
  static const char *const keep[] = {"-c",
                                     "-fno-jump-tables",
                                     "-fcall-saved-t2",
                                     "-fcall-saved-t3",
                                     "-fcall-saved-t4",
                                     "-fcall-saved-t5",
                                     "-fcall-saved-t6",
                                     "-fcall-saved-a2",
                                     "-fcall-saved-a4",
                                     "-fcall-saved-a5",
                                     "-fcall-saved-a6",
                                     "-fcall-saved-a7"};
  const char *words[WORDS_MAX];
  size_t count = put_words(words, 0, keep, sizeof keep / sizeof *keep);
  words[count++] = wf_arena_format(b->arena, "%s/kernel.c", b->folder);
  words[count++] = "-o";
  words[count++] = object;
  return compile(b, words, count);
}

static command_elf_result compile_all(build *b, const char *path) {
  static const char *const link[] = {"-nostdlib", "-nostartfiles", "-static", "-Wl,--gc-sections",
                                     "-Wl,--no-warn-rwx-segments"};
  static const char *const sources[] = {"start.S", "host.c", "console.c", "string.c", "data.S", "main.c"};
  const char *object = wf_arena_format(b->arena, "%s/kernel.o", b->folder);
  b->files[b->file_count++] = object;
  const command_elf_result kernel = compile_kernel(b, object);
  if (kernel != COMMAND_ELF_DONE) return kernel;
  const char *words[WORDS_MAX];
  size_t count = put_words(words, 0, link, sizeof link / sizeof *link);
  words[count++] = wf_arena_format(b->arena, "-Wl,-T,%s/weft.ld", b->folder);
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    words[count++] = wf_arena_format(b->arena, "%s/%s", b->folder, sources[i]);
  words[count++] = object;
  words[count++] = "-lgcc";
  words[count++] = "-o";
  words[count++] = path;
  return compile(b, words, count);
}

static void remove_all(build *b) {
  for (size_t i = 0; i < b->file_count; i++) unlink(b->files[i]);
  rmdir(wf_arena_format(b->arena, "%s/weft", b->folder));
  rmdir(wf_arena_format(b->arena, "%s/isa", b->folder));
  rmdir(b->folder);
}

command_elf_result command_write_elf(const command_program *program, const command_elf_config *config, const char *path,
                                     wf_diag *diag) {
  build b = {.arena = wf_arena_create(), .program = program, .config = config, .diag = diag};
  const char *base = getenv("TMPDIR");
  char *folder = wf_arena_format(b.arena, "%s/weft-XXXXXX", base == NULL || *base == '\0' ? "/tmp" : base);
  command_elf_result result = COMMAND_ELF_FAILED;
  b.folder = mkdtemp(folder);
  if (b.folder == NULL) {
    fail(&b, folder);
  } else {
    if (write_files(&b)) result = compile_all(&b, path);
    remove_all(&b);
  }
  wf_arena_destroy(b.arena);
  return result;
}
