// SPDX-License-Identifier: Apache-2.0
// `weft run`: compiles a kernel, runs it on random data, and compares with what the kernel says.
#include <inttypes.h>
#include <string.h>

#include "api/kernel.h"
#include "base/name.h"
#include "base/progress.h"
#include "base/thousands.h"
#include "cli/diverge.h"
#include "cli/kernel.h"
#include "cli/run_elf.h"
#include "cli/sim_sensitivity.h"
#include "cli/sim_units.h"
#include "runner/oracle.h"

typedef struct run_options {
  kernel_options kernel;
  const char *engine, *against, *commands;
  uint64_t seed, times;
  bool timing_only, units, elf, sensitivity;
} run_options;

typedef struct run_report {
  const kernel_job *job;
  const char *path;
  const sim_engine_ops *engine;
  const run_oracle_verdict *verdict;
  const sim_flow_account *sensitivity;  // NULL: not asked for
  bool compared, units;
} run_report;

static double utilisation(const run_report *r) {
  const run_result *run = &r->verdict->run;
  const double dim = hw_derive(&r->job->kernel->array.array).dim;
  if (!r->job->kernel->result.mapped || run->cycles == 0) return 0;
  const uint64_t macs =
      command_useful_macs(r->job->kernel->result.commands, (uint64_t)map_macs(&r->job->kernel->result.layer));
  return (double)macs / (dim * dim * (double)run->cycles);
}

static void print_wrong(const run_report *r) {
  const run_oracle_verdict *v = r->verdict;
  const command_tensor *tensor = &r->job->kernel->result.commands->tensors[v->tensor];
  fprintf(stderr,
          "weft: error: %" PRIu64 " bytes differ from the oracle; the first: tensor %s, byte %zu: %02x, not %02x\n",
          v->wrong, tensor->name, v->at, v->found, v->expected);
}

static void print_report(const run_report *r, FILE *out) {
  const run_oracle_verdict *v = r->verdict;
  const run_result *run = &v->run;
  char number[WF_THOUSANDS];
  fprintf(out, "array        %s\nengine       %s\n", r->job->kernel->array.array.name, r->engine->name);
  fprintf(out, "commands     %s\n", wf_thousands(run->commands, number));
  if (r->engine->timed) fprintf(out, "cycles       %s\n", wf_thousands(run->cycles, number));
  if (r->engine->timed && r->job->kernel->result.mapped) fprintf(out, "utilisation  %.2f %%\n", 100 * utilisation(r));
  if (run->has_units) {
    fprintf(out, "read         %s bytes\n", wf_thousands(run->units.bus_read_bytes, number));
    fprintf(out, "written      %s bytes\n", wf_thousands(run->units.bus_written_bytes, number));
  }
  const host_counts hart = {.instructions[HOST_COMMAND] = run->commands};
  if (run->has_units && r->units) sim_units_print(&run->units, &hart, &r->job->kernel->array.array, out);
  if (r->sensitivity != NULL) sim_sensitivity_print(r->sensitivity, out);
  if (r->compared)
    fprintf(out, "digest       %016" PRIx64 "\nresult       %s\n", v->digest,
            v->wrong == 0 ? "as the oracle's" : "WRONG");
  else if (r->engine->timing_only)
    fprintf(out, "result       not compared: engine %s moves no data\n", r->engine->name);
}

static cJSON *to_json(const run_report *r) {
  const run_oracle_verdict *v = r->verdict;
  cJSON *object = kernel_json(r->job, r->path);
  cJSON_AddStringToObject(object, "engine", r->engine->name);
  if (r->engine->timed) cli_json_count(object, "cycles", v->run.cycles);
  if (r->engine->timed && r->job->kernel->result.mapped) cJSON_AddNumberToObject(object, "utilisation", utilisation(r));
  if (v->run.has_units) {
    cli_json_count(object, "read_bytes", v->run.units.bus_read_bytes);
    cli_json_count(object, "written_bytes", v->run.units.bus_written_bytes);
  }
  const host_counts hart = {.instructions[HOST_COMMAND] = v->run.commands};
  if (v->run.has_units && r->units) {
    sim_units_add_memory(&v->run.units.memory, object);
    sim_units_json(&v->run.units, &hart, &r->job->kernel->array.array, object);
  }
  if (r->sensitivity != NULL) sim_sensitivity_json(r->sensitivity, object);
  cJSON_AddBoolToObject(object, "compared", r->compared);
  if (!r->compared) return object;
  cli_json_hash(object, "digest", v->digest);
  cli_json_count(object, "wrong_bytes", v->wrong);
  return object;
}

static void take_account(void *context, const sim_engine *engine, uint64_t cycle) {
  sim_flow_account_to(engine, cycle, context);
}

// Fills, runs, compares, reports.
static cli_exit judge(const cli_common *common, const run_options *options, const char *path, const kernel_job *job,
                      const sim_engine_ops *engine, wf_diag *diag) {
  const sim_engine_options engine_options = {.timing_only = options->timing_only, .quiet = common->quiet};
  sim_flow_account account;
  const run_config config = {.engine = engine,
                             .options = &engine_options,
                             .times = (unsigned)options->times,
                             .ended = options->sensitivity ? take_account : NULL,
                             .context = &account};
  const bool compared = !options->timing_only && job->kernel->result.block != NULL;
  run_oracle o;
  run_oracle_verdict verdict;
  wf_busy *busy = wf_busy_begin(common->quiet, "running the kernel", CLI_BUSY_AFTER);
  bool good = run_oracle_fill(&o, &job->kernel->result, options->seed, diag);
  if (good && compared) good = run_oracle_expect(&o, &job->kernel->result, diag);
  good = good && run_oracle_judge(&o, &job->kernel->result, &config, &verdict, diag);
  wf_busy_end(busy);
  run_oracle_release(&o);
  if (!good) return CLI_CANNOT_BUILD;
  const run_report report = {.job = job,
                             .path = path,
                             .engine = engine,
                             .verdict = &verdict,
                             .compared = compared,
                             .units = options->units,
                             .sensitivity = options->sensitivity ? &account : NULL};
  if (cli_prints(common)) print_report(&report, stdout);
  if (common->json != NULL && !cli_write_json(common->json, to_json(&report), diag)) return CLI_BAD_INPUT;
  if (!compared || verdict.wrong == 0) return CLI_OK;
  print_wrong(&report);
  return CLI_MISMATCH;
}

// The same through a program of the host: its cycles have the host's part in them, and digests stand for the bytes.
static cli_exit judge_elf(const cli_common *common, const run_options *options, const char *path, const kernel_job *job,
                          const sim_engine_ops *engine, wf_diag *diag) {
  if (job->kernel->result.block == NULL) {
    wf_error(diag, wf_in_file(path), "commands have no interpreter to compare an ELF's result with");
    return CLI_BAD_INPUT;
  }
  run_elf_result elf;
  const cli_exit code = run_elf(job, engine, options->seed, (unsigned)options->times, &elf, diag);
  if (code != CLI_OK) return code;
  const bool good = elf.wrong == NULL && elf.tensors > 0;
  char number[WF_THOUSANDS];
  if (cli_prints(common))
    printf("array        %s\nengine       %s\ncycles       %s, with the host\nresult       %s\n",
           job->kernel->array.array.name, engine->name, wf_thousands(elf.cycles, number),
           good ? "as the oracle's" : "WRONG");
  cJSON *object = kernel_json(job, path);
  cJSON_AddStringToObject(object, "engine", engine->name);
  cli_json_count(object, "cycles", elf.cycles);
  cJSON_AddBoolToObject(object, "compared", true);
  cJSON_AddBoolToObject(object, "wrong", !good);
  const bool written = common->json == NULL || cli_write_json(common->json, object, diag);
  if (common->json == NULL) cJSON_Delete(object);
  char name[WF_NAME_LINE];
  if (!good)
    fprintf(stderr, "weft: error: tensor %s differs from the oracle\n",
            wf_name_shown(elf.wrong == NULL ? "?" : elf.wrong, name));
  return !written ? CLI_BAD_INPUT : good ? CLI_OK : CLI_MISMATCH;
}

// An engine that moves no data makes the run one without.
static const sim_engine_ops *find_engine(run_options *options) {
  const sim_engine_ops *engine = options->engine == NULL ? &sim_cycle_engine : sim_engine_find(options->engine);
  if (engine == NULL) fprintf(stderr, "weft: error: this build has no engine %s\n", options->engine);
  if (engine != NULL && engine->timing_only) options->timing_only = true;
  if (engine == NULL || !options->timing_only || engine == &sim_cycle_engine || engine->timing_only) return engine;
  fprintf(stderr, "weft: error: --timing-only is for engine %s\n", sim_cycle_engine.name);
  return NULL;
}

// NULL, or what does not go together.
static const char *beside_against(const run_options *o) {
  if (o->against == NULL) return o->commands != NULL ? "--commands is for --against" : NULL;
  const bool other = o->elf || o->timing_only || o->units || o->sensitivity || o->times != 1;
  return other ? "--against takes no --elf, --timing-only, --units, --sensitivity and --times" : NULL;
}

static cli_exit diverge(const cli_common *common, const run_options *options, const char *path, const kernel_job *job,
                        const sim_engine_ops *engine, wf_diag *diag) {
  const diverge_job how = {.kernel = job,
                           .path = path,
                           .commands = options->commands,
                           .against = options->against,
                           .engine = engine,
                           .seed = options->seed};
  return diverge_run(common, &how, diag);
}

static const wf_option run_rows[] = {
    {"engine", WF_TEXT(run_options, engine), "NAME", "cycle (default), flow, ref, rtl or systemc"},
    {"seed", WF_COUNT(run_options, seed), "N", "of the random data (default 1)"},
    {"times", WF_COUNT(run_options, times), "N", "run N times and report the last (default 1: caches are cold)"},
    {"units", WF_FLAG(run_options, units), NULL, "engine cycle: also where each unit's cycles went, traffic, energy"},
    {"sensitivity", WF_FLAG(run_options, sensitivity), NULL,
     "engine flow: also what the cycles of all times depend on, by parameter of the array"},
    {"elf", WF_FLAG(run_options, elf), NULL, "as a program of the RISC-V host, whose cycles count, too"},
    {"against", WF_TEXT(run_options, against), "ENGINE",
     "the first command whose result is another one than on this engine, with its statement"},
    {"commands", WF_TEXT(run_options, commands), "FILE",
     "--against: run these commands (weft compile -o FILE.command) in place of the compiled ones, which stay the "
     "reference"},
    {"timing-only", WF_FLAG(run_options, timing_only), NULL, "engine cycle: move no data and compare nothing"},
};

cli_exit cli_run(int argc, char **argv) {
  run_options options = {.seed = 1, .times = 1};
  static const cli_usage usage = {
      .verb = "run",
      .synopsis = "KERNEL.py|IR",
      .text =
          "Compiles, runs the commands on random data as fast as the accelerator takes them, and compares every byte\n"
          "with what the interpreter of the kernel makes of the same data.\n"
          "Exit code: 0 good, 1 bad input, 2 usage, 3 cannot map or build, 4 another result.",
      .examples =
          "  weft run workloads/kernels/gemm.py --shape M=512,N=512,K=512,scale=0.001,bias=False,relu=False\n"
          "  weft run kernel.py --shape M=100,N=70 --tune 64 --print-mapping\n",
      .options = {CLI_OPTIONS(run_rows, 0), CLI_OPTIONS(kernel_option_rows, offsetof(run_options, kernel)),
                  CLI_OPTIONS(tuning_option_rows, offsetof(run_options, kernel.tuning))},
      .min_arguments = 1,
      .max_arguments = 1,
      .takes_array = true,
      .takes_tech = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  const sim_engine_ops *engine = find_engine(&options);
  if (engine == NULL) return CLI_USAGE;
  wf_diag diag = wf_diag_to(stderr);
  if (options.sensitivity && (engine = sim_sensitivity_engine(engine, &diag)) == NULL) return CLI_USAGE;
  const char *wrong = beside_against(&options);
  if (wrong != NULL) {
    fprintf(stderr, "weft: error: %s\n  hint: weft run --help\n", wrong);
    return CLI_USAGE;
  }
  if (options.elf && engine->timing_only) {
    fprintf(stderr, "weft: error: engine %s moves no data, which a program of the host compares\n", engine->name);
    return CLI_USAGE;
  }
  kernel_job job;
  options.kernel.for_c = options.elf;
  code = kernel_compile(&common, &options.kernel, argv[0], &job);
  if (code == CLI_OK && options.against != NULL)
    code = diverge(&common, &options, argv[0], &job, engine, &diag);
  else if (code == CLI_OK && options.elf)
    code = judge_elf(&common, &options, argv[0], &job, engine, &diag);
  else if (code == CLI_OK)
    code = judge(&common, &options, argv[0], &job, engine, &diag);
  kernel_release(&job);
  return code;
}
