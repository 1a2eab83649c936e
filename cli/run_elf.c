// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on the host; see run_elf.h.
#include "cli/run_elf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/kernel.h"
#include "cli/sim_report.h"
#include "compiler/command/elf.h"
#include "driver/include/weft/data.h"
#include "runner/oracle.h"

static int find_tensor(const command_program *program, const char *name) {
  for (int t = 0; t < program->tensor_count; t++)
    if (strcmp(program->tensors[t].name, name) == 0) return t;
  return -1;
}

// A line of the program: `run N cycles C` or `tensor NAME digest D`.
static void take_line(const char *line, const kernel_job *job, const run_oracle *o, run_elf_result *result) {
  char name[256];
  uint64_t value;
  if (sscanf(line, "run %*u cycles %" SCNu64, &value) == 1) result->cycles = value;
  if (sscanf(line, "tensor %255s digest %" SCNx64, name, &value) != 2) return;
  const int t = find_tensor(job->kernel->result.commands, name);
  if (t < 0) return;
  const command_tensor *tensor = &job->kernel->result.commands->tensors[t];
  result->tensors++;
  if (weft_digest(o->after[t], tensor->elements * tensor->element_bytes) != value && result->wrong == NULL)
    result->wrong = tensor->name;
}

static void take_output(char *text, const kernel_job *job, const run_oracle *o, run_elf_result *result) {
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) take_line(line, job, o, result);
}

static cli_exit simulate(const char *path, const kernel_job *job, const sim_engine_ops *engine, const run_oracle *o,
                         run_elf_result *result, wf_diag *diag) {
  char *text = NULL;
  size_t size;
  FILE *console = open_memstream(&text, &size);
  if (console == NULL) return CLI_BAD_INPUT;
  const sim_run_config config = {
      .array = &job->kernel->array.array, .engine = engine, .console = console, .console_error = stderr};
  const sim_run_result run = sim_run_elf(&config, path, diag);
  fclose(console);
  take_output(text, job, o, result);
  free(text);
  return sim_report_exit(&run);
}

cli_exit run_elf(const kernel_job *job, const sim_engine_ops *engine, uint64_t seed, unsigned times,
                 run_elf_result *result, wf_diag *diag) {
  *result = (run_elf_result){0};
  char path[] = "/tmp/weft-run-XXXXXX.elf";
  const int file = mkstemps(path, 4);
  if (file < 0) {
    wf_error(diag, wf_in_file(path), "cannot make a temporary file");
    return CLI_BAD_INPUT;
  }
  close(file);
  run_oracle o;
  bool expected = run_oracle_fill_as_elf(&o, &job->kernel->result, seed, diag);
  for (unsigned n = 0; n < times && expected; n++) expected = run_oracle_expect(&o, &job->kernel->result, diag);
  const command_elf_config config = {.seed = seed, .times = times};
  cli_exit code = CLI_CANNOT_BUILD;
  if (expected && command_write_elf(job->kernel->result.commands, &config, path, diag) == COMMAND_ELF_DONE)
    code = simulate(path, job, engine, &o, result, diag);
  run_oracle_release(&o);
  unlink(path);
  return code;
}
