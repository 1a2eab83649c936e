// SPDX-License-Identifier: Apache-2.0
// `weft run`: compiles a kernel, runs it on random data, and compares with what the kernel says.
#include <string.h>

#include "cli/engine_args.h"
#include "cli/kernel.h"

typedef struct run_options {
  kernel_options kernel;
  const char *engine, *against, *commands;
  uint64_t seed, times;
  bool timing_only, units, elf, sensitivity;
} run_options;

// ---- options

static const char *engine_of(const run_options *o) { return o->engine == NULL ? "cycle" : o->engine; }

// An engine that moves no data makes the run one without.
static bool engine_good(run_options *o, weft_engine *engine) {
  if (!engine_find(engine_of(o), engine)) {
    fprintf(stderr, "weft: error: this build has no engine %s\n", o->engine);
    return false;
  }
  if (!engine->data) o->timing_only = true;
  if (!o->timing_only || strcmp(engine->name, "cycle") == 0 || !engine->data) return true;
  fprintf(stderr, "weft: error: --timing-only is for engine cycle\n");
  return false;
}

// NULL, or what does not go together.
static const char *beside_against(const run_options *o) {
  if (o->against == NULL) return o->commands != NULL ? "--commands is for --against" : NULL;
  const bool other = o->elf || o->timing_only || o->units || o->sensitivity || o->times != 1;
  return other ? "--against takes no --elf, --timing-only, --units, --sensitivity and --times" : NULL;
}

static bool options_good(run_options *o) {
  weft_engine engine;
  if (!engine_good(o, &engine) || !engine_knows(&engine, o->sensitivity)) return false;
  const char *wrong = beside_against(o);
  if (wrong != NULL) {
    fprintf(stderr, "weft: error: %s\n  hint: weft run --help\n", wrong);
    return false;
  }
  if (!o->elf || engine.data) return true;
  fprintf(stderr, "weft: error: engine %s moves no data, which a program of the host compares\n", engine.name);
  return false;
}

// ---- a run

static void print(char *text, FILE *out) {
  if (text != NULL) fputs(text, out);
  weft_free(text);
}

static bool report(const cli_common *common, const run_options *o, const kernel_job *job, const weft_run *done) {
  const weft_run_form text = {.size = sizeof text, .units = o->units},
                      json = {.size = sizeof json, .form = "json", .units = o->units},
                      wrong = {.size = sizeof wrong, .form = "wrong"};
  if (cli_prints(common)) print(weft_run_report(job->session, done, &text), stdout);
  if (common->json != NULL && !cli_write_report(common->json, weft_run_report(job->session, done, &json))) return false;
  print(weft_run_report(job->session, done, &wrong), stderr);
  return true;
}

static cli_exit judge(const cli_common *common, const run_options *o, const kernel_job *job) {
  const weft_check_options options = {.size = sizeof options,
                                      .engine = o->engine,
                                      .seed = o->seed,
                                      .times = (uint32_t)o->times,
                                      .timing_only = o->timing_only,
                                      .executable = o->elf,
                                      .sensitivity = o->sensitivity};
  cli_building building;
  cli_building_begin(&building, job->session, common, job->array);
  cli_busy *busy = o->elf ? NULL : cli_busy_begin(common, "running the kernel");
  weft_run *done = weft_kernel_check(job->session, job->kernel, &options);
  cli_busy_end(busy);
  cli_building_end(&building);
  if (!cli_messages(job->session)) return (cli_exit)weft_session_status(job->session);
  const cli_exit code = (cli_exit)weft_run_ending(done);
  const bool ran = code == CLI_OK || code == CLI_MISMATCH;
  const bool written = !ran || report(common, o, job, done);
  weft_run_destroy(done);
  return written ? code : CLI_BAD_INPUT;
}

// ---- where two engines part

static bool compares(const char *engine) {
  weft_engine facts;
  if (engine_find(engine, &facts) && facts.data) return true;
  fprintf(stderr, "weft: error: --against compares data: engine %s is none that has them\n", engine);
  return false;
}

static cli_exit tell_divergence(const cli_common *common, const kernel_job *job, const weft_divergence *d) {
  const weft_run_form json = {.size = sizeof json, .form = "json"};
  weft_divergence_facts facts = {.size = sizeof facts};
  if (cli_prints(common)) print(weft_divergence_report(job->session, d, NULL), stdout);
  if (common->json != NULL && !cli_write_report(common->json, weft_divergence_report(job->session, d, &json)))
    return CLI_BAD_INPUT;
  weft_divergence_describe(d, &facts);
  return facts.equal ? CLI_OK : CLI_MISMATCH;
}

static cli_exit diverge(const cli_common *common, const run_options *o, const kernel_job *job) {
  const weft_divergence_options options = {
      .size = sizeof options, .engine = o->engine, .against = o->against, .commands = o->commands, .seed = o->seed};
  if (!compares(o->against) || !compares(engine_of(o))) return CLI_USAGE;
  cli_busy *busy = cli_busy_begin(common, "looking for the first command with another result");
  weft_divergence *d = weft_kernel_diverge(job->session, job->kernel, &options);
  cli_busy_end(busy);
  if (!cli_messages(job->session)) return (cli_exit)weft_session_status(job->session);
  const cli_exit code = tell_divergence(common, job, d);
  weft_divergence_destroy(d);
  return code;
}

// ---- the verb

static cli_exit run(const cli_common *common, run_options *o, const char *path) {
  kernel_job job;
  o->kernel.for_c = o->elf;
  cli_exit code = kernel_compile(common, &o->kernel, path, &job);
  if (code == CLI_OK) code = o->against != NULL ? diverge(common, o, &job) : judge(common, o, &job);
  kernel_release(&job);
  return code;
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
  return options_good(&options) ? run(&common, &options, argv[0]) : CLI_USAGE;
}
