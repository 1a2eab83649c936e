// Builds the ELF of a network: see elf.h. Everything is written into a temporary folder: the driver's files and the
// host's operators, which travel in the tool, the array's header, a C file per kernel, the main program, the contents
// of constants and inputs; the RISC-V compiler makes an object of each source, several at a time, and the ELF of all.
#include "compiler/network/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/command/driver_files.h"
#include "compiler/network/host_files.h"
#include "compiler/network/private.h"
#include "hw/base/alloc.h"
#include "sim/rtl/process.h"

#define COMPILER "riscv64-unknown-elf-gcc"
enum { LOG_BYTES = 2000, WORDS_MAX = 40 };

typedef struct text_list {
  const char **text;
  size_t count, room;
} text_list;

typedef struct build {
  wf_arena *arena;
  const network *net;
  const network_elf_config *config;
  wf_diag *diag;
  const char *folder;
  text_list files;    // made in it
  text_list sources;  // of them, to be compiled
} build;

static void add_text(build *b, text_list *list, const char *text) {
  *WF_ARENA_PUSH(b->arena, list->text, list->count, &list->room) = text;
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool fail(build *b, const char *path) {
  wf_error(b->diag, wf_in_file(path), "cannot write the file: %s", strerror(errno));
  return false;
}

// ---- files

static FILE *create(build *b, const char *name, const char **path) {
  *path = wf_arena_format(b->arena, "%s/%s", b->folder, name);
  add_text(b, &b->files, *path);
  if (ends_with(name, ".c") || ends_with(name, ".S")) add_text(b, &b->sources, *path);
  FILE *file = fopen(*path, "wb");
  if (file == NULL) fail(b, *path);
  return file;
}

static bool finish(build *b, FILE *file, const char *path) {
  const bool good = !ferror(file);
  if (fclose(file) != 0 || !good) return fail(b, path);
  return true;
}

static bool write_bytes(build *b, const char *name, const void *bytes, size_t length) {
  const char *path;
  FILE *file = create(b, name, &path);
  if (file == NULL) return false;
  if (length > 0) fwrite(bytes, 1, length, file);
  return finish(b, file, path);
}

// Headers lie where programs include them from; private ones beside their sources.
static const char *place_of(build *b, const char *name) {
  if (strcmp(name, "weft_isa.h") == 0) return wf_arena_format(b->arena, "isa/%s", name);
  const bool is_header = ends_with(name, ".h") || ends_with(name, ".def");
  return is_header && strcmp(name, "private.h") != 0 ? wf_arena_format(b->arena, "weft/%s", name) : name;
}

static bool write_driver(build *b) {
  bool good = true;
  for (size_t i = 0; i < command_driver_file_count && good; i++) {
    const wf_text_file *file = &command_driver_files[i];
    good = write_bytes(b, place_of(b, file->name), file->text, strlen(file->text));
  }
  for (size_t i = 0; i < network_host_file_count && good; i++) {
    const wf_text_file *file = &network_host_files[i];
    const char *name = ends_with(file->name, ".c") ? wf_arena_format(b->arena, "ops_%s", file->name) : file->name;
    good = write_bytes(b, place_of(b, name), file->text, strlen(file->text));
  }
  return good;
}

static bool write_kernels(build *b) {
  for (int k = 0; k < b->net->kernel_count; k++) {
    command_program *program = b->net->kernels[k].program;
    const char *path, *name = program->name;
    FILE *file = create(b, wf_arena_format(b->arena, "kernel%d.c", k), &path);
    if (file == NULL) return false;
    program->name = network_kernel_name(b->arena, b->net, k);
    const bool good = command_write_c(program, file, b->diag);
    program->name = name;
    if (!finish(b, file, path) || !good) return false;
  }
  return true;
}

// A label and contents from a file of its own, filled up to `bytes`.
static bool write_object(build *b, FILE *data, const char *label, const void *contents, uint64_t length,
                         uint64_t bytes) {
  const char *name = wf_arena_format(b->arena, "%s.bin", label);
  fprintf(data, "  .balign 64\n  .globl %s\n%s:\n  .incbin \"%s/%s\"\n", label, label, b->folder, name);
  if (bytes > length) fprintf(data, "  .zero %llu\n", (unsigned long long)(bytes - length));
  return write_bytes(b, name, contents, (size_t)length);
}

static bool write_data(build *b) {
  const graph *g = b->net->graph;
  const char *path;
  FILE *data = create(b, "data.S", &path);
  if (data == NULL) return false;
  bool good = true;
  fputs("  .data\n", data);
  for (int n = 0; n < b->net->buffer_count && good; n++) {
    const network_buffer *buffer = &b->net->buffers[n];
    if (buffer->contents != NULL && buffer->last >= buffer->first)
      good = write_object(b, data, network_buffer_name(b->arena, n), buffer->contents, buffer->content_bytes,
                          buffer->bytes);
  }
  fputs("  .section .rodata\n", data);
  for (int i = 0; i < g->input_count && good; i++) {
    const size_t bytes = graph_bytes(&g->tensors[g->inputs[i]]);
    good = write_object(b, data, wf_arena_format(b->arena, "input%d", i), b->config->inputs[i], bytes, bytes);
  }
  return finish(b, data, path) && good;
}

static bool write_main(build *b) {
  const char *path;
  FILE *file = create(b, "main.c", &path);
  if (file == NULL) return false;
  bool good = network_write_main(b->net, file, b->diag);
  if (!finish(b, file, path) || !good) return false;
  if ((file = create(b, "weft_array.h", &path)) == NULL) return false;
  good = hw_write_c_header(b->net->options.array, file);
  return finish(b, file, path) && good;
}

static bool write_files(build *b) {
  static const char *const folders[] = {"weft", "isa"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const char *path = wf_arena_format(b->arena, "%s/%s", b->folder, folders[i]);
    if (mkdir(path, 0777) != 0) return fail(b, path);
  }
  return write_driver(b) && write_kernels(b) && write_data(b) && write_main(b);
}

// ---- compilers

static void report_log(build *b, const char *log) {
  char text[LOG_BYTES + 1] = "";
  FILE *file = fopen(log, "rb");
  if (file != NULL) {
    text[fread(text, 1, LOG_BYTES, file)] = '\0';
    fclose(file);
  }
  wf_error(b->diag, wf_in_file(b->net->graph->name), COMPILER " failed:\n%s", text);
}

static command_elf_result result_of(build *b, sim_process_result result, const char *log) {
  if (result == SIM_PROCESS_DONE) return COMMAND_ELF_DONE;
  if (result == SIM_PROCESS_FAILED) {
    report_log(b, log);
    return COMMAND_ELF_FAILED;
  }
  wf_error(b->diag, wf_in_file(b->net->graph->name), COMPILER " not found");
  wf_hint(b->diag, "install it with: apt-get install gcc-riscv64-unknown-elf");
  return COMMAND_ELF_NO_COMPILER;
}

// The flags of driver/CMakeLists.txt; scheduling is for the operators only, commands are volatile.
static sim_process_argv compile_command(build *b, const char *source, const char *object) {
  static const char *const flags[] = {"-std=gnu17",
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
                                      "-fno-tree-loop-distribute-patterns"};
  const char **words = WF_ARENA_ARRAY(b->arena, WORDS_MAX, const char *);
  size_t count = 0;
  words[count++] = COMPILER;
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) words[count++] = flags[i];
  if (strstr(source, "/kernel") != NULL)
    words[count++] = "-fno-schedule-insns", words[count++] = "-fno-schedule-insns2";
  words[count++] = wf_arena_format(b->arena, "-I%s", b->folder);
  words[count++] = "-c";
  words[count++] = source;
  words[count++] = "-o";
  words[count++] = object;
  return words;
}

static sim_process_argv link_command(build *b, const text_list *objects, const char *path) {
  const char **words = WF_ARENA_ARRAY(b->arena, objects->count + WORDS_MAX, const char *);
  const char *const flags[] = {COMPILER,          "-march=rv64imafdc", "-mabi=lp64d",
                               "-mcmodel=medany", "-nostdlib",         "-nostartfiles",
                               "-static",         "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"};
  size_t count = 0;
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) words[count++] = flags[i];
  words[count++] = wf_arena_format(b->arena, "-Wl,-T,%s/weft.ld", b->folder);
  for (size_t i = 0; i < objects->count; i++) words[count++] = objects->text[i];
  words[count++] = "-lgcc";
  words[count++] = "-o";
  words[count++] = path;
  return words;
}

static command_elf_result compile(build *b, const char *path) {
  const size_t sources = b->sources.count;
  sim_process_argv *commands = WF_ARENA_ARRAY(b->arena, sources + 1, sim_process_argv);
  text_list objects = {0};
  const char *log = wf_arena_format(b->arena, "%s/log", b->folder);
  add_text(b, &b->files, log);
  for (size_t i = 0; i < sources; i++) {
    const char *object = wf_arena_format(b->arena, "%s.o", b->sources.text[i]);
    add_text(b, &objects, object);
    add_text(b, &b->files, object);
    commands[i] = compile_command(b, b->sources.text[i], object);
  }
  const unsigned jobs = b->config->jobs == 0 ? 1 : b->config->jobs;
  const command_elf_result compiled = result_of(b, sim_process_run(commands, sources, jobs, log), log);
  if (compiled != COMMAND_ELF_DONE) return compiled;
  const sim_process_argv link = link_command(b, &objects, path);
  return result_of(b, sim_process_run(&link, 1, 1, log), log);
}

static void remove_all(build *b) {
  for (size_t i = 0; i < b->files.count; i++) unlink(b->files.text[i]);
  rmdir(wf_arena_format(b->arena, "%s/weft", b->folder));
  rmdir(wf_arena_format(b->arena, "%s/isa", b->folder));
  rmdir(b->folder);
}

command_elf_result network_write_elf(const network *net, const network_elf_config *config, const char *path,
                                     wf_diag *diag) {
  build b = {.arena = wf_arena_create(), .net = net, .config = config, .diag = diag};
  const char *base = getenv("TMPDIR");
  char *folder = wf_arena_format(b.arena, "%s/weft-XXXXXX", base == NULL || *base == '\0' ? "/tmp" : base);
  command_elf_result result = COMMAND_ELF_FAILED;
  b.folder = mkdtemp(folder);
  if (b.folder == NULL) {
    fail(&b, folder);
  } else {
    if (write_files(&b)) result = compile(&b, path);
    remove_all(&b);
  }
  wf_arena_destroy(b.arena);
  return result;
}
