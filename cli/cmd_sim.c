// SPDX-License-Identifier: Apache-2.0
// `weft sim`: runs a program or a command trace and reports. The program's console is stdout; everything else is stderr
// or the files that options name.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/sensitivity.h"
#include "base/clock.h"
#include "base/name.h"
#include "base/progress.h"
#include "base/thousands.h"
#include "cli/cli.h"
#include "cli/sim_csv.h"
#include "cli/sim_network.h"
#include "cli/sim_report.h"
#include "cli/timeline_file.h"
#include "hw/array_text.h"
#include "sim/cycle/cycle.h"
#include "sim/records.h"
#include "sim/ref/ref.h"
#include "sim/rtl/rtl.h"
#include "sim/run.h"
#include "sim/systemc/systemc.h"
#include "sim/timeline.h"

enum { DEFAULT_LIMIT_BILLIONS = 20 };

typedef struct sim_options {
  const char *engine;
  const char *trace;
  const char *report;
  const char *wave;
  const char *events;
  timeline_options timeline;
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

typedef struct sim_progress {
  wf_progress line;
  double start;
} sim_progress;

static bool show_progress(void *context, uint64_t instructions, uint64_t cycles) {
  sim_progress *p = context;
  (void)cycles;
  if (!wf_progress_due(&p->line)) return true;
  char number[WF_THOUSANDS];
  const double seconds = wf_seconds() - p->start;
  wf_progress_line(&p->line, "weft: %s instructions, %.0f s, %.0f million/s", wf_thousands(instructions, number),
                   seconds, (double)instructions / seconds / 1e6);
  return true;
}

// A trace is written by the engine that carries a command out when it comes; all else is about cycles.
static const sim_engine_ops *default_engine(const sim_options *options) {
  return options->trace != NULL ? &sim_ref_engine : &sim_cycle_engine;
}

// NULL with the code after the reason was reported: a name that is none is a mistake of the command line, SystemC that
// is not there one of the machine.
static const sim_engine_ops *choose_engine(const sim_options *options, cli_exit *code, wf_diag *diag) {
  const char *name = options->engine;
  *code = CLI_USAGE;
  const sim_engine_ops *engine = name == NULL ? default_engine(options) : sim_engine_find(name);
  if (engine == &sim_systemc_engine) {
    *code = CLI_CANNOT_BUILD;
    return sim_systemc_engine_with(options->accelerator, diag);
  }
  if (engine != NULL && options->accelerator == NULL && options->quantum == 0) return engine;
  if (engine != NULL) {
    wf_error(diag, wf_in_file(NULL), "engine %s takes no --accelerator and no --quantum", engine->name);
    wf_hint(diag, "they are for --engine systemc");
    return NULL;
  }
  fprintf(stderr, "weft: error: this build has no engine %s\n", name);
  hw_nearest nearest = hw_nearest_start(name);
  for (size_t i = 0; sim_engine_at(i) != NULL; i++) hw_nearest_offer(&nearest, sim_engine_at(i)->name);
  if (nearest.best[0] != '\0') wf_hint(diag, "did you mean %s?", nearest.best);
  fputs("  hint: engines:", stderr);
  for (size_t i = 0; sim_engine_at(i) != NULL; i++) fprintf(stderr, " %s", sim_engine_at(i)->name);
  fputc('\n', stderr);
  return NULL;
}

static bool write_csv(const char *path, const sim_report *report, wf_diag *diag) {
  FILE *out = cli_open_output(path, diag);
  if (out == NULL) return false;
  cJSON *document = sim_report_json(report);
  sim_csv_print(document, out);
  cJSON_Delete(document);
  return cli_close(out, path, diag);
}

// Reports to --report's file or to stderr; --quiet leaves stderr alone.
static bool write_reports(const cli_common *common, const sim_options *options, const sim_report *report,
                          wf_diag *diag) {
  bool good = true;
  if (options->report != NULL) {
    FILE *out = cli_open_output(options->report, diag);
    good = out != NULL;
    if (good) {
      sim_report_print(report, out);
      good = cli_close(out, options->report, diag);
    }
  } else if (!common->quiet) {
    sim_report_print(report, stderr);
  }
  if (options->csv != NULL) good = write_csv(options->csv, report, diag) && good;
  if (common->json != NULL) good = cli_write_json(common->json, sim_report_json(report), diag) && good;
  return good;
}

// The files of --trace, --events, --timeline and --konata, NULL where not asked for.
typedef struct sim_files {
  FILE *trace, *events;
  timeline_files timelines;
  sim_timeline_level level;
} sim_files;

static void print_event(FILE *out, const sim_event *event) {
  static const char *const kinds[] = {"alloc", "issue", "done"};
  static const char *const units[] = {"load", "execute", "store", ""};
  fprintf(out, "%10" PRIu64 " %s %" PRIu32 " %s\n", event->cycle, kinds[event->kind], event->index, units[event->unit]);
}

// In the cycle of its request; when each beat of the answer was there.
static void print_burst(FILE *out, const memsys_seen *burst, uint32_t line_bytes) {
  fprintf(out, "%10" PRIu64 " %s %u 0x%" PRIx64 " %u %s beats", burst->asked, burst->write ? "write" : "read",
          burst->id, burst->address, burst->bytes, sim_burst_class(burst, line_bytes));
  for (unsigned beat = 0; beat < burst->beats; beat++) fprintf(out, " %" PRIu64, burst->beat_cycles[beat]);
  fputc('\n', out);
}

// Where the engine's records go.
typedef struct record_sinks {
  FILE *events;
  timeline_sinks timelines;
  uint32_t line_bytes;
  sim_flow_account *account;
} record_sinks;

static void take_event(void *context, const sim_event *event) {
  const record_sinks *sinks = context;
  if (sinks->events != NULL) print_event(sinks->events, event);
  timeline_sinks_event(&sinks->timelines, event);
}

static void take_burst(void *context, const memsys_seen *burst) {
  const record_sinks *sinks = context;
  if (sinks->events != NULL) print_burst(sinks->events, burst, sinks->line_bytes);
  if (sinks->timelines.timeline != NULL) sim_timeline_burst(sinks->timelines.timeline, burst);
}

static void watch_engine(void *context, const sim_engine *engine) {
  const record_sinks *sinks = context;
  if (sinks->timelines.timeline != NULL) sim_timeline_watch(sinks->timelines.timeline, engine);
}

static void take_account(void *context, const sim_engine *engine, uint64_t cycle) {
  const record_sinks *sinks = context;
  sim_flow_account_to(engine, cycle, sinks->account);
}

static bool close_timelines(const sim_options *options, const record_sinks *sinks, const sim_run_result *result,
                            wf_diag *diag) {
  const uint64_t cycles = result->has_units ? result->units.cycles : result->host.cycles;
  return timeline_sinks_close(&sinks->timelines, &options->timeline, cycles, result->has_units ? &result->units : NULL,
                              diag);
}

static bool files_agree(const sim_options *options, const sim_engine_ops *engine, const sim_files *files,
                        wf_diag *diag) {
  if (files->trace != NULL && engine->timed && engine != &sim_cycle_engine && engine != &sim_rtl_engine) {
    wf_error(diag, wf_in_file(NULL), "engine %s cannot write a trace", engine->name);
    wf_hint(diag, "write it with --engine ref, or with times with --engine cycle or rtl");
    return false;
  }
  if (files->trace != NULL && options->timing_only) {
    wf_error(diag, wf_in_file(NULL),
             "a trace holds the data that the accelerator reads: --trace needs a run without "
             "--timing-only");
    return false;
  }
  const char *asked = files->events != NULL ? "events" : timeline_asked(&options->timeline);
  if (asked == NULL || engine->set_events != NULL) return true;
  wf_error(diag, wf_in_file(NULL), "engine %s has no cycles and so no %s", engine->name, asked);
  if (options->engine == NULL)
    wf_hint(diag, "--trace takes engine %s if none is named: add --engine cycle", engine->name);
  return false;
}

static bool timing_agrees(const sim_options *options, const sim_engine_ops *engine, wf_diag *diag) {
  if (options->at_recorded_times && !engine->timed) {
    wf_error(diag, wf_in_file(NULL), "engine %s has no cycles: it takes no --at-recorded-times", engine->name);
    return false;
  }
  if (!options->timing_only || engine == &sim_cycle_engine || engine->timing_only) return true;
  wf_error(diag, wf_in_file(NULL), "engine %s always moves data; it takes no --timing-only", engine->name);
  wf_hint(diag, "use --engine %s", sim_cycle_engine.name);
  return false;
}

// A result for machines on stdout stands alone: what the program prints goes to stderr.
static bool takes_stdout(const cli_common *common, const sim_options *options) {
  const char *const results[] = {common->json,    options->csv,           options->report,         options->trace,
                                 options->events, options->timeline.path, options->timeline.konata};
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    if (results[i] != NULL && strcmp(results[i], "-") == 0) return true;
  return false;
}

static cli_exit simulate(const cli_common *common, const sim_options *options, const char *path, const sim_files *files,
                         wf_diag *diag) {
  hw_array array;
  if (!cli_load_array(common, &array, diag)) return CLI_BAD_INPUT;
  cli_exit code;
  const sim_engine_ops *engine = choose_engine(options, &code, diag);
  if (engine == NULL) return code;
  if (options->sensitivity && (engine = api_sensitivity_engine(engine, diag)) == NULL) return CLI_USAGE;
  if (!files_agree(options, engine, files, diag) || !timing_agrees(options, engine, diag)) return CLI_USAGE;
  const bool recorded = files->events != NULL || timeline_asked(&options->timeline) != NULL;
  sim_flow_account account = {.cycles = {0}};
  record_sinks sinks = {.events = files->events, .line_bytes = array.l2.line_bytes, .account = &account};
  sinks.timelines = timeline_sinks_open(&files->timelines, &options->timeline, &array, path, files->level);
  const sim_events events = {.context = &sinks, .event = take_event, .burst = take_burst};
  const sim_engine_options engine_options = {.wave = options->wave,
                                             .jobs = (unsigned)options->jobs,
                                             .timing_only = options->timing_only || engine->timing_only,
                                             .quiet = common->quiet,
                                             .accelerator = options->accelerator,
                                             .quantum = options->quantum};
  sim_progress shown = {.line = wf_progress_begin(common->quiet, 0.5, 10), .start = wf_seconds()};
  sim_run_config config = {.array = &array,
                           .engine = engine,
                           .engine_options = &engine_options,
                           .max_instructions = options->max_instructions,
                           .any_array = options->any_array,
                           .at_recorded_times = options->at_recorded_times,
                           .console = takes_stdout(common, options) ? stderr : stdout,
                           .console_error = stderr,
                           .trace = files->trace,
                           .events = recorded ? &events : NULL,
                           .watch = watch_engine,
                           .watch_context = &sinks,
                           .ended = options->sensitivity ? take_account : NULL,
                           .progress = common->quiet ? NULL : show_progress,
                           .progress_context = &shown};
  sim_run_result result = sim_run_file(&config, path, diag);
  if (fflush(stdout) != 0 || ferror(stdout)) wf_error(diag, wf_in_file(NULL), "cannot write the program's output");
  wf_progress_end(&shown.line, false);
  if (!close_timelines(options, &sinks, &result, diag)) return CLI_BAD_INPUT;
  code = sim_report_exit(&result);
  if (code == CLI_BAD_INPUT || code == CLI_CANNOT_BUILD) return code;
  sim_report report = {.path = path,
                       .array = &array,
                       .engine = engine,
                       .accelerator = options->accelerator,
                       .timing_only = options->timing_only || engine->timing_only,
                       .result = &result,
                       .sensitivity = options->sensitivity ? &account : NULL,
                       .exit = (int)code};
  if (!write_reports(common, options, &report, diag)) return CLI_BAD_INPUT;
  return ferror(stdout) ? CLI_BAD_INPUT : code;
}

// Options that are for programs of the hart alone are refused.
static cli_exit simulate_network(const cli_common *common, const sim_options *options, const char *path,
                                 wf_diag *diag) {
  if (options->trace != NULL || options->events != NULL || options->wave != NULL || options->any_array ||
      options->at_recorded_times) {
    wf_error(diag, wf_in_file(path), "a network takes no --trace, --events, --wave, --any-array, --at-recorded-times");
    return CLI_USAGE;
  }
  cli_exit code;
  const sim_engine_ops *engine = choose_engine(options, &code, diag);
  if (engine == NULL) return code;
  if (options->sensitivity && (engine = api_sensitivity_engine(engine, diag)) == NULL) return CLI_USAGE;
  if (!timing_agrees(options, engine, diag)) return CLI_USAGE;
  sim_network_options chosen = options->network;
  chosen.sensitivity = options->sensitivity;
  chosen.timing_only = options->timing_only || engine->timing_only;
  chosen.timeline = options->timeline;
  chosen.csv = options->csv;
  chosen.report = options->report;
  chosen.job.jobs = options->jobs == 0 ? 2 : options->jobs;
  return sim_network(common, &chosen, engine, path, diag);
}

// A program that ended badly has run: its trace tells why. What did not run leaves no files.
static bool ran(cli_exit code) { return code != CLI_BAD_INPUT && code != CLI_USAGE && code != CLI_CANNOT_BUILD; }

// A program has no steps: a level without commands would be empty.
static bool choose_timeline(const sim_options *options, sim_files *files, wf_diag *diag) {
  timeline_choice choice;
  if (!timeline_choose(&options->timeline, SIM_TIMELINE_BURST, &choice, diag)) return false;
  files->level = choice.level;
  const bool steps = options->timeline.steps != NULL;
  if (!steps && choice.level != SIM_TIMELINE_STEP) return true;
  wf_error(diag, wf_in_file(NULL), "steps are of networks: a program takes no %s",
           steps ? "--timeline-steps" : "--timeline-level step");
  return false;
}

static cli_exit simulate_program(const cli_common *common, const sim_options *options, const char *path,
                                 wf_diag *diag) {
  sim_files files = {0};
  const struct {
    const char *path;
    FILE **file;
  } outputs[] = {{options->trace, &files.trace}, {options->events, &files.events}};
  enum { OUTPUTS = sizeof outputs / sizeof outputs[0] };
  if (!choose_timeline(options, &files, diag)) return CLI_USAGE;
  if (!cli_check_output(options->report, diag) || !cli_check_output(options->csv, diag)) return CLI_BAD_INPUT;
  for (unsigned n = 0; n < OUTPUTS; n++)
    if (outputs[n].path != NULL && (*outputs[n].file = cli_open_output(outputs[n].path, diag)) == NULL)
      return CLI_BAD_INPUT;
  if (!timeline_files_open(&files.timelines, &options->timeline, diag)) return CLI_BAD_INPUT;
  cli_exit code = simulate(common, options, path, &files, diag);
  for (unsigned n = 0; n < OUTPUTS; n++)
    if (!cli_end_output(*outputs[n].file, outputs[n].path, ran(code), diag)) code = CLI_BAD_INPUT;
  if (!timeline_files_close(&files.timelines, &options->timeline, ran(code), diag)) code = CLI_BAD_INPUT;
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
                  CLI_OPTIONS(timeline_option_rows, offsetof(sim_options, timeline))},
      .min_arguments = 1,
      .max_arguments = 1,
      .takes_array = true,
      .takes_tech = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  if (network_job_is(argv[0])) return simulate_network(&common, &options, argv[0], &diag);
  if (network_job_is_misspelt(argv[0])) return CLI_BAD_INPUT;
  return simulate_program(&common, &options, argv[0], &diag);
}
