// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on the host: see executable.h.
#include "api/executable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/ending.h"
#include "compiler/command/elf.h"
#include "driver/include/weft/data.h"
#include "runner/oracle.h"

static int find_tensor(const command_program *program, const char *name) {
  for (int t = 0; t < program->tensor_count; t++)
    if (strcmp(program->tensors[t].name, name) == 0) return t;
  return -1;
}

// A line of the program: `run N cycles C` or `tensor NAME digest D`.
static void take_line(const char *line, const weft_kernel *kernel, const run_oracle *o, api_executable_result *result) {
  char name[256];
  uint64_t value;
  if (sscanf(line, "run %*u cycles %" SCNu64, &value) == 1) result->cycles = value;
  if (sscanf(line, "tensor %255s digest %" SCNx64, name, &value) != 2) return;
  const int t = find_tensor(kernel->result.commands, name);
  if (t < 0) return;
  const command_tensor *tensor = &kernel->result.commands->tensors[t];
  result->tensors++;
  if (weft_digest(o->after[t], tensor->elements * tensor->element_bytes) != value && result->wrong == NULL)
    result->wrong = tensor->name;
}

static void take_output(char *text, const weft_kernel *kernel, const run_oracle *o, api_executable_result *result) {
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
    take_line(line, kernel, o, result);
}

static bool simulate(const char *path, const weft_kernel *kernel, const sim_engine_ops *engine, const run_oracle *o,
                     api_executable_result *result, wf_diag *diag) {
  char *text = NULL;
  size_t size;
  FILE *console = open_memstream(&text, &size);
  if (console == NULL) return false;
  const sim_run_config config = {.array = &kernel->array.array,
                                 .engine = engine,
                                 .console = console,
                                 .console_error = diag->out != NULL ? diag->out : console};
  result->run = sim_run_elf(&config, path, diag);
  fclose(console);
  take_output(text, kernel, o, result);
  free(text);
  return api_ended(&result->run) == WEFT_OK;
}

bool api_executable_run(const weft_kernel *kernel, const sim_engine_ops *engine, uint64_t seed, unsigned times,
                        api_executable_result *result, wf_diag *diag) {
  *result = (api_executable_result){0};
  char path[] = "/tmp/weft-run-XXXXXX.elf";
  const int file = mkstemps(path, 4);
  if (file < 0) {
    wf_error(diag, wf_in_file(path), "cannot make a temporary file");
    return false;
  }
  close(file);
  run_oracle o;
  bool good = run_oracle_fill_as_elf(&o, &kernel->result, seed, diag);
  for (unsigned n = 0; n < times && good; n++) good = run_oracle_expect(&o, &kernel->result, diag);
  const command_elf_config config = {.seed = seed, .times = times};
  good = good && command_write_elf(kernel->result.commands, &config, path, diag) == COMMAND_ELF_DONE &&
         simulate(path, kernel, engine, &o, result, diag);
  run_oracle_release(&o);
  unlink(path);
  return good;
}
