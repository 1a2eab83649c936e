// SPDX-License-Identifier: Apache-2.0
// A network as a program of the RISC-V host, or as text: see compile_network.h.
#include "cli/compile_network.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/network/elf.h"

static bool ends_in(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

static cli_exit write_text(const network_job *job, const char *output, wf_diag *diag) {
  const char *path = output == NULL ? "-" : output;
  FILE *out = cli_open_output(path, diag);
  if (out == NULL) return CLI_BAD_INPUT;
  network_print(job->net, out);
  return cli_close(out, path, diag) ? CLI_OK : CLI_BAD_INPUT;
}

static cli_exit write_elf(const network_job *job, const network_job_options *options, const char *output,
                          wf_diag *diag) {
  const network_elf_config config = {.inputs = (const void *const *)job->inputs, .jobs = (unsigned)options->jobs};
  return network_write_elf(job->net, &config, output, diag) == COMMAND_ELF_DONE ? CLI_OK : CLI_CANNOT_BUILD;
}

static cJSON *to_json(const network_job *job, const char *path) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "file", path);
  cJSON_AddStringToObject(object, "array", job->array.name);
  cli_json_hash(object, "array_hash", hw_array_hash(&job->array));
  cJSON_AddNumberToObject(object, "steps", job->net->step_count);
  cJSON_AddNumberToObject(object, "kernels", job->net->kernel_count);
  cJSON_AddNumberToObject(object, "compile_seconds", job->net->compile_seconds);
  cli_json_count(object, "weight_bytes", job->net->weight_bytes);
  cli_json_count(object, "arena_bytes", job->net->arena_bytes);
  cli_json_count(object, "arena_least_bytes", job->net->arena_least_bytes);
  return object;
}

cli_exit compile_network(const cli_common *common, const network_job_options *options, const char *path,
                         const char *output) {
  if (output != NULL && !ends_in(output, ".elf") && !ends_in(output, ".steps")) {
    fprintf(stderr, "weft: error: %s: unknown format of a network\n  hint: a name that ends in .elf or .steps\n",
            output);
    return CLI_USAGE;
  }
  wf_diag diag = wf_diag_to(stderr);
  if (!cli_check_output(output, &diag)) return CLI_BAD_INPUT;
  network_job_options chosen = *options;
  chosen.straight = true;
  network_job job;
  cli_exit code = network_job_open(common, &chosen, path, &job, &diag);
  if (code == CLI_OK)
    code = output != NULL && ends_in(output, ".elf") ? write_elf(&job, options, output, &diag)
                                                     : write_text(&job, output, &diag);
  if (code == CLI_OK && common->json != NULL && !cli_write_json(common->json, to_json(&job, path), &diag))
    code = CLI_BAD_INPUT;
  network_job_release(&job);
  return code;
}
