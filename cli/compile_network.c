// SPDX-License-Identifier: Apache-2.0
// A network as a program of the RISC-V host, or as text: see compile_network.h.
#include "cli/compile_network.h"

#include <string.h>

#include "base/json.h"

static bool ends_in(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

static cli_exit print_steps(const network_job *job) {
  char *text = weft_network_text(job->session, job->network);
  const bool good = cli_messages(job->session);
  if (good) fputs(text, stdout);
  weft_free(text);
  return good && fflush(stdout) == 0 ? CLI_OK : CLI_BAD_INPUT;
}

static cli_exit write(const network_job *job, const char *output) {
  if (output == NULL) return print_steps(job);
  const weft_status status = weft_network_write(job->session, job->network, output);
  cli_messages(job->session);
  return (cli_exit)status;
}

static cJSON *to_json(const network_job *job, const char *path) {
  const weft_network_facts *f = &job->facts;
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "file", path);
  cJSON_AddStringToObject(object, "array", weft_array_name(job->array));
  wf_json_hash(object, "array_hash", weft_array_hash(job->array));
  cJSON_AddNumberToObject(object, "steps", (double)f->steps);
  cJSON_AddNumberToObject(object, "kernels", (double)f->kernels);
  cJSON_AddNumberToObject(object, "compile_seconds", f->compile_seconds);
  wf_json_count(object, "weight_bytes", f->weight_bytes);
  wf_json_count(object, "arena_bytes", f->arena_bytes);
  wf_json_count(object, "arena_least_bytes", f->arena_least_bytes);
  return object;
}

cli_exit compile_network(const cli_common *common, const network_args *args, const char *path, const char *output) {
  if (output != NULL && !ends_in(output, ".elf") && !ends_in(output, ".steps")) {
    fprintf(stderr, "weft: error: %s: unknown format of a network\n  hint: a name that ends in .elf or .steps\n",
            output);
    return CLI_USAGE;
  }
  if (output != NULL && !cli_may_write(output)) return CLI_BAD_INPUT;
  network_args chosen = *args;
  chosen.for_c = true;
  network_job job;
  cli_exit code = network_job_open(common, &chosen, path, &job);
  if (code == CLI_OK) code = write(&job, output);
  if (code == CLI_OK && common->json != NULL) code = cli_put_json(common, to_json(&job, path));
  network_job_release(&job);
  return code;
}
