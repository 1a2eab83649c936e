// SPDX-License-Identifier: Apache-2.0
// `weft sim`: runs a program or a command trace and reports. The program's console is stdout; everything else is stderr
// or the files that options name.
#include <string.h>

#include "cli/engine_args.h"
#include "cli/sim_network.h"

enum { DEFAULT_LIMIT_BILLIONS = 20 };

typedef struct sim_options {
  const char *engine;
  const char *trace;
  const char *report;
  const char *wave;
  const char *events;
  timeline_args timeline;
  const char *csv;
  uint64_t jobs;
  const char *accelerator;
  uint64_t quantum;
  uint64_t max_instructions;
  bool any_array;
  bool at_recorded_times;
  bool timing_only, sensitivity;
  sim_network_options network;
} sim_options;

// ---- options

// A trace is written by the engine that carries a command out when it comes; all else is about cycles.
static bool choose_engine(const sim_options *o, weft_engine *engine) {
  const char *name = o->engine != NULL ? o->engine : o->trace != NULL ? "ref" : "cycle";
  if (!engine_named(name, engine)) return false;
  if (strcmp(name, "systemc") == 0) {
    engine->cycles = o->accelerator == NULL || strcmp(o->accelerator, "ref") != 0;
    return true;
  }
  if (o->accelerator == NULL && o->quantum == 0) return true;
  cli_error(NULL, "engine %s takes no --accelerator and no --quantum", engine->name);
  cli_hint("they are for --engine systemc");
  return false;
}

static bool is_engine(const weft_engine *engine, const char *name) { return strcmp(engine->name, name) == 0; }

static bool timing_agrees(const sim_options *o, const weft_engine *engine) {
  if (o->at_recorded_times && !engine->cycles) {
    cli_error(NULL, "engine %s has no cycles: it takes no --at-recorded-times", engine->name);
    return false;
  }
  if (!o->timing_only || is_engine(engine, "cycle") || !engine->data) return true;
  cli_error(NULL, "engine %s always moves data; it takes no --timing-only", engine->name);
  cli_hint("use --engine cycle");
  return false;
}

static bool trace_agrees(const sim_options *o, const weft_engine *engine) {
  if (o->trace == NULL) return true;
  if (engine->cycles && !is_engine(engine, "cycle") && !is_engine(engine, "rtl")) {
    cli_error(NULL, "engine %s cannot write a trace", engine->name);
    cli_hint("write it with --engine ref, or with times with --engine cycle or rtl");
    return false;
  }
  if (!o->timing_only) return true;
  cli_error(NULL, "a trace holds the data that the accelerator reads: --trace needs a run without --timing-only");
  return false;
}

static bool records_agree(const sim_options *o, const weft_engine *engine) {
  const char *asked = o->events != NULL ? "events" : timeline_args_asked(&o->timeline);
  if (asked == NULL || engine->records) return true;
  cli_error(NULL, "engine %s has no cycles and so no %s", engine->name, asked);
  if (o->engine == NULL) cli_hint("--trace takes engine %s if none is named: add --engine cycle", engine->name);
  return false;
}

static weft_run_options run_options_of(const sim_options *o, const weft_engine *engine) {
  weft_run_options run = {.size = sizeof run,
                          .engine = engine->name,
                          .timing_only = o->timing_only || !engine->data,
                          .accelerator = o->accelerator,
                          .quantum = o->quantum,
                          .jobs = (uint32_t)o->jobs,
                          .sensitivity = o->sensitivity};
  timeline_args_set(&o->timeline, &run);
  return run;
}

// ---- networks

// Options that are for programs of the hart alone are refused.
static cli_exit simulate_network(const cli_common *common, const sim_options *o, const char *path) {
  weft_engine engine;
  if (o->trace != NULL || o->events != NULL || o->wave != NULL || o->any_array || o->at_recorded_times) {
    cli_error(path, "a network takes no --trace, --events, --wave, --any-array, --at-recorded-times");
    return CLI_USAGE;
  }
  if (!choose_engine(o, &engine) || !engine_knows(&engine, o->sensitivity) || !timing_agrees(o, &engine))
    return CLI_USAGE;
  sim_network_options chosen = o->network;
  chosen.job.jobs = o->jobs == 0 ? 2 : o->jobs;
  const sim_files files = {.engine = &engine,
                           .run = run_options_of(o, &engine),
                           .timeline = o->timeline,
                           .csv = o->csv,
                           .report = o->report};
  return sim_network(common, &chosen, &files, path);
}

// ---- programs

// A result for machines on stdout stands alone: what the program prints goes to stderr.
static bool takes_stdout(const cli_common *common, const sim_options *o) {
  const char *const results[] = {common->json, o->csv,           o->report,         o->trace,
                                 o->events,    o->timeline.path, o->timeline.konata};
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    if (results[i] != NULL && strcmp(results[i], "-") == 0) return true;
  return false;
}

static void print_console(void *context, bool error, const char *bytes, size_t length) {
  FILE *const *out = context;
  fwrite(bytes, 1, length, error ? stderr : *out);
}

typedef struct watcher {
  cli_line line;
  const weft_array *array;
} watcher;

static bool show_progress(void *context, const weft_progress *p) {
  watcher *w = context;
  char number[CLI_THOUSANDS];
  if (cli_building_told(p, w->array) || !cli_line_due(&w->line)) return true;
  cli_line_write(&w->line, "weft: %s instructions, %.0f s, %.0f million/s", cli_thousands(p->done, number), p->seconds,
                 (double)p->done / p->seconds / 1e6);
  return true;
}

static char *report_of(weft_session *s, const weft_run *run, const char *form) {
  const weft_run_form options = {.size = sizeof options, .form = form};
  return weft_run_report(s, run, &options);
}

// Reports to --report's file or to stderr; --quiet leaves stderr alone.
static bool write_reports(const cli_common *common, const sim_options *o, weft_session *s, const weft_run *run) {
  bool good = true;
  if (o->report != NULL) {
    good = cli_write_report(o->report, report_of(s, run, "text"));
  } else if (!common->quiet) {
    char *text = report_of(s, run, "text");
    fputs(text, stderr);
    weft_free(text);
  }
  if (o->csv != NULL) good = cli_write_report(o->csv, report_of(s, run, "csv")) && good;
  if (common->json != NULL) good = cli_write_report(common->json, report_of(s, run, "json")) && good;
  return good;
}

static weft_run *run_program(const cli_common *common, const sim_options *o, const weft_engine *engine, weft_session *s,
                             const weft_array *array, const char *path) {
  FILE *console = takes_stdout(common, o) ? stderr : stdout;
  watcher w = {.line = cli_line_begin(common, 0.5, 10), .array = array};
  weft_run_options options = run_options_of(o, engine);
  options.max_instructions = o->max_instructions;
  options.any_array = o->any_array;
  options.at_recorded_times = o->at_recorded_times;
  options.wave = o->wave;
  options.trace = o->trace;
  options.events = o->events;
  options.console = print_console;
  options.console_context = &console;
  if (!common->quiet) weft_session_watch(s, show_progress, &w);
  weft_run *run = weft_program_run(s, path, array, &options);
  weft_session_watch(s, NULL, NULL);
  if (fflush(stdout) != 0 || ferror(stdout)) cli_error(NULL, "cannot write the program's output");
  cli_line_end(&w.line, false);
  cli_messages(s);
  return run;
}

static cli_exit simulate(const cli_common *common, const sim_options *o, weft_session *s, const char *path) {
  weft_engine engine;
  weft_array *array = cli_open_array(common, s);
  if (array == NULL) return CLI_BAD_INPUT;
  cli_exit code = CLI_USAGE;
  if (choose_engine(o, &engine) && engine_knows(&engine, o->sensitivity) && trace_agrees(o, &engine) &&
      records_agree(o, &engine) && timing_agrees(o, &engine)) {
    weft_run *run = run_program(common, o, &engine, s, array, path);
    code = run == NULL ? (cli_exit)weft_session_status(s) : (cli_exit)weft_run_ending(run);
    if (run != NULL && (!write_reports(common, o, s, run) || ferror(stdout))) code = CLI_BAD_INPUT;
    weft_run_destroy(run);
  }
  weft_array_destroy(array);
  return code;
}

// A program has no steps: a level without commands would be empty.
static bool timeline_good(const timeline_args *a) {
  if (!timeline_args_good(a, NULL)) return false;
  const bool steps = a->steps != NULL;
  if (!steps && (a->level == NULL || strcmp(a->level, "step") != 0)) return true;
  cli_error(NULL, "steps are of networks: a program takes no %s", steps ? "--timeline-steps" : "--timeline-level step");
  return false;
}

static cli_exit simulate_program(const cli_common *common, const sim_options *o, const char *path) {
  if (!timeline_good(&o->timeline)) return CLI_USAGE;
  if (!cli_may_write(o->report) || !cli_may_write(o->csv) || !cli_may_write(o->trace) || !cli_may_write(o->events) ||
      !timeline_args_may_write(&o->timeline))
    return CLI_BAD_INPUT;
  weft_session *s = weft_session_create();
  const cli_exit code = simulate(common, o, s, path);
  weft_session_destroy(s);
  return code;
}

static const wf_option sim_rows[] = {
    {"engine", WF_TEXT(sim_options, engine), "NAME",
     "cycle (default): every cycle; flow: times by equations, no data; ref: functional, for --trace; rtl: the "
     "SystemVerilog; systemc: a TLM platform"},
    {"accelerator", WF_TEXT(sim_options, accelerator), "c|rtl|ref",
     "of engine systemc: engine cycle (default), the RTL, or engine ref"},
    {"quantum", WF_COUNT(sim_options, quantum), "N",
     "of engine systemc: cycles that the hart may run ahead (default 0)"},
    {"max-instructions", WF_COUNT(sim_options, max_instructions), "N",
     "stop after N host instructions (default 20e9; 0: never)"},
    {"wave", WF_TEXT(sim_options, wave), "FILE", "engine rtl: write waveforms (FST, for gtkwave)"},
    {"events", WF_TEXT(sim_options, events), "FILE",
     "engines with cycles: write when each accelerator command was allocated, issued and done, and the bursts on the "
     "bus"},
    {"jobs", WF_COUNT(sim_options, jobs), "N", "engine rtl: compilers at a time (default 2)"},
    {"trace", WF_TEXT(sim_options, trace), "FILE",
     "write the command stream (by default on engine ref; cycle and rtl add times); weft sim FILE replays it"},
    {"at-recorded-times", WF_FLAG(sim_options, at_recorded_times), NULL,
     "of a trace with times: give each command in the cycle in which the hart gave it"},
    {"report", WF_TEXT(sim_options, report), "FILE|DIR|-",
     "programs: write the report here instead of stderr; networks: DIR/index.html shows the run, with DIR/report.txt "
     "and "
     "DIR/steps.csv; FILE.txt or -: the totals as text"},
    {"csv", WF_TEXT(sim_options, csv), "FILE|-", "write the result as CSV: file,array,engine,key,value"},
    {"timing-only", WF_FLAG(sim_options, timing_only), NULL,
     "engine cycle: no data is moved, memory keeps its contents; the cycles are the same"},
    {"sensitivity", WF_FLAG(sim_options, sensitivity), NULL,
     "engine flow: also what the cycles depend on, by parameter of the array; of networks by step, too"},
    {"any-array", WF_FLAG(sim_options, any_array), NULL, "run even if the program was built for another array"},
};

cli_exit cli_sim(int argc, char **argv) {
  sim_options options = {.max_instructions = (uint64_t)DEFAULT_LIMIT_BILLIONS * 1000000000, .network.job.seed = 1};
  static const cli_usage usage = {
      .verb = "sim",
      .synopsis = "PROG.elf|TRACE|NETWORK",
      .text =
          "Runs a bare-metal RISC-V program (entry 0x80000000, HTIF or semihosting) with the accelerator,\n"
          "or replays a command trace. The program's console output goes to stdout.\n"
          "Or runs a network (an ONNX file or the name of a generated one), quantised to int8, and compares each\n"
          "layer with the int8 reference; the table of layers goes to stdout.\n"
          "Exit code: 0 good, 1 bad input, 2 usage, 3 the engine cannot be built, 4 a replay differs, 5 the program "
          "failed, 6 unhandled trap,\n"
          "7 illegal custom instruction, 8 local address out of range,\n"
          "9 access outside memory, 10 instruction limit, or the accelerator is stuck.",
      .examples =
          "  weft sim resnet50\n"
          "  weft sim model.onnx --array dim8 --report DIR\n"
          "  weft sim model.onnx --calibrate pictures --quality 4\n"
          "  weft sim bert-base --seq 128 --timeline run.json.gz --timeline-level step\n"
          "  weft sim resnet50 --tune 64 --fuse auto --json result.json\n"
          "  weft sim program.elf --json -\n",
      .options = {CLI_OPTIONS(sim_rows, 0), CLI_OPTIONS(network_arg_rows, offsetof(sim_options, network.job)),
                  CLI_OPTIONS(tuning_option_rows, offsetof(sim_options, network.job.tuning)),
                  CLI_OPTIONS(sim_network_rows, offsetof(sim_options, network)),
                  CLI_OPTIONS(timeline_arg_rows, offsetof(sim_options, timeline))},
      .min_arguments = 1,
      .max_arguments = 1,
      .takes_array = true,
      .takes_tech = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  if (network_job_is(argv[0])) return simulate_network(&common, &options, argv[0]);
  if (network_job_is_misspelt(argv[0])) return CLI_BAD_INPUT;
  return simulate_program(&common, &options, argv[0]);
}
