// SPDX-License-Identifier: Apache-2.0
// Builds the ELF of a network: see elf.h. The driver's files and the host's operators, which travel in the tool, the
// array's header, a C file per kernel, the main program, the contents of constants and inputs; the RISC-V compiler
// makes an object of each source, several at a time, and the ELF of all.
#include "compiler/network/elf.h"

#include <string.h>

#include "base/alloc.h"
#include "compiler/command/build.h"
#include "compiler/network/host_files.h"
#include "compiler/network/private.h"

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

// ---- files

// Private headers lie beside their sources.
static bool is_private(const char *name) { return strcmp(name, "private.h") == 0 || strcmp(name, "group.h") == 0; }

static bool write_host_file(command_build *b, const wf_text_file *file) {
  const bool is_header = ends_with(file->name, ".h") || ends_with(file->name, ".def");
  if (is_header && !is_private(file->name)) return command_build_write_header(b, file->name, file->text);
  const char *name = is_header ? file->name : wf_arena_format(b->arena, "ops_%s", file->name);
  return command_build_write(b, name, file->text, strlen(file->text));
}

static bool write_hosts(command_build *b) {
  for (size_t i = 0; i < network_host_file_count; i++)
    if (!write_host_file(b, &network_host_files[i])) return false;
  return true;
}

static bool write_kernels(command_build *b, const network *net) {
  for (int k = 0; k < net->kernel_count; k++) {
    command_program *program = net->kernels[k].program;
    const char *path, *name = program->name;
    FILE *file = command_build_create(b, wf_arena_format(b->arena, "kernel%d.c", k), &path);
    if (file == NULL) return false;
    program->name = network_kernel_name(b->arena, net, k);
    const bool good = command_write_c(program, file, b->diag);
    program->name = name;
    if (!command_build_finish(b, file, path) || !good) return false;
  }
  return true;
}

static bool write_data(command_build *b, const network *net, const void *const *inputs) {
  const graph *g = net->graph;
  const char *path;
  FILE *data = command_build_create(b, "data.S", &path);
  if (data == NULL) return false;
  bool good = true;
  fputs("  .data\n", data);
  for (int n = 0; n < net->buffer_count && good; n++) {
    const network_buffer *buffer = &net->buffers[n];
    if (buffer->contents != NULL && buffer->commands == NULL && buffer->last >= buffer->first)
      good = command_build_write_object(b, data, network_buffer_name(b->arena, n), buffer->contents,
                                        buffer->content_bytes, buffer->bytes);
  }
  fputs("  .section .rodata\n", data);
  for (int i = 0; i < g->input_count && good; i++) {
    const size_t bytes = graph_bytes(&g->tensors[g->inputs[i]]);
    good = command_build_write_object(b, data, wf_arena_format(b->arena, "input%d", i), inputs[i], bytes, bytes);
  }
  return command_build_finish(b, data, path) && good;
}

static bool write_main(command_build *b, const network *net) {
  const char *path;
  FILE *file = command_build_create(b, "main.c", &path);
  if (file == NULL) return false;
  const bool good = network_write_main(net, file, b->diag);
  return command_build_finish(b, file, path) && good;
}

// ---- objects

static command_elf_result build_sources(command_build *b, unsigned jobs, const char *path) {
  const size_t sources = b->source_count;
  wf_process_argv *commands = WF_ARENA_ARRAY(b->arena, sources + 1, wf_process_argv);
  const char **objects = WF_ARENA_ARRAY(b->arena, sources + 1, const char *);
  for (size_t i = 0; i < sources; i++) {
    const bool is_kernel = strstr(b->sources[i], "/kernel") != NULL;
    commands[i] =
        command_build_compiling(b, b->sources[i], is_kernel ? COMMAND_BUILD_KERNEL : COMMAND_BUILD_PLAIN, &objects[i]);
  }
  const command_elf_result compiled = command_build_run(b, commands, sources, jobs == 0 ? 1 : jobs);
  if (compiled != COMMAND_ELF_DONE) return compiled;
  return command_build_link(b, objects, sources, path);
}

command_elf_result network_write_elf(const network *net, const network_elf_config *config, const char *path,
                                     wf_diag *diag) {
  command_build b;
  command_elf_result result = COMMAND_ELF_FAILED;
  if (command_build_open(&b, net->graph->name, diag) && command_build_write_driver(&b, net->options.array) &&
      write_hosts(&b) && write_kernels(&b, net) && write_data(&b, net, config->inputs) && write_main(&b, net))
    result = build_sources(&b, config->jobs, path);
  command_build_close(&b);
  return result;
}
