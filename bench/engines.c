// SPDX-License-Identifier: Apache-2.0
// `weft bench engines`: the same programs on every engine. Commands are given as fast as they are taken, so that no
// host is measured; the time is that of the engine alone, without its creation.
// Rates are per second of processor time: on an idle machine that is the wall time of these single-threaded engines, on
// a busy one it is what can be compared.
//
// What makes the cycles believable: every engine that moves data must leave the expected result; the cycle engine must
// need as many cycles with and without data; and the RTL, which is too slow for whole layers, runs the first
// --rtl-cycles of each program, in which every command must be allocated, issued and done in the same cycle as in the
// cycle engine.
#include <inttypes.h>

#include "base/alloc.h"
#include "base/progress.h"
#include "base/statistics.h"
#include "base/thousands.h"
#include "bench/bench.h"
#include "bench/run.h"

enum {
  NOTE_SECONDS = 5,  // between two lines of progress, except on a terminal
  DEFAULT_REPEATS = 3,
  DEFAULT_RTL_CYCLES = 50000,
  EVENTS_PER_CYCLE = 5,  // alloc, three issues, done
};

typedef struct engine_row {
  const char *label, *engine;
  sim_engine_options options;
} engine_row;

enum { ROW_REF, ROW_CYCLE, ROW_TIMING, ROW_RTL, ROWS };
static const engine_row rows[ROWS] = {
    [ROW_REF] = {"ref", "ref", {0}},
    [ROW_CYCLE] = {"cycle", "cycle", {0}},
    [ROW_TIMING] = {"cycle --timing-only", "cycle", {.timing_only = true}},
    [ROW_RTL] = {"rtl", "rtl", {0}},
};

typedef struct options {
  bool quick, no_rtl;
  uint64_t repeats, rtl_cycles;
} options;

typedef struct bench_state {
  const options *options;
  bench_report *report;
  hw_array array;
  bench_log *rtl_log, *cycle_log;
  bool quiet;
  wf_progress progress;
  bench_end end;
} bench_state;

// Of one program.
typedef struct bench_result {
  bool ran[ROWS];
  bench_measured row[ROWS];
  size_t events;       // that rtl and cycle had in common up to the limit
  bool rtl_agrees;     // with the cycle engine, in events and cycles
  bool timing_agrees;  // full and timing-only
} bench_result;

// ---- running

static void complain(bench_state *b, const bench_program *p, const char *engine, const char *what) {
  wf_progress_end(&b->progress, false);
  fprintf(stderr, "weft: error: %s on %s: %s\n", p->name, engine, what);
  b->end = BENCH_MISMATCH;
}

static void explain(bench_state *b, const bench_program *p, const char *engine, const bench_measured *m) {
  char text[64];
  switch (m->status) {
    case BENCH_RUN_GOOD:
      return;
    case BENCH_RUN_CANNOT_BUILD:
      complain(b, p, engine, "the engine cannot be built");
      b->end = BENCH_CANNOT_BUILD;
      return;
    case BENCH_RUN_FAULT:
      complain(b, p, engine, m->fault);
      return;
    case BENCH_RUN_WRONG:
      snprintf(text, sizeof text, "%zu bytes of the result are wrong", m->wrong);
      complain(b, p, engine, text);
      return;
    case BENCH_RUN_CRASHED:
      complain(b, p, engine, "the engine's process ended");
      return;
  }
}

static bool run_row(bench_state *b, const bench_program *p, unsigned row, uint64_t limit, bench_log *log,
                    bench_measured *m) {
  sim_engine_options chosen = rows[row].options;
  chosen.quiet = b->quiet;
  const bench_run run = {.program = p,
                         .array = &b->array,
                         .engine = sim_engine_find(rows[row].engine),
                         .options = &chosen,
                         .limit = limit,
                         .repeats = log == NULL ? (unsigned)b->options->repeats : 1,
                         .log = log};
  if (wf_progress_due(&b->progress)) wf_progress_line(&b->progress, "weft: %s on %s", p->name, rows[row].label);
  *m = bench_run_program(&run);
  explain(b, p, rows[row].label, m);
  return m->status == BENCH_RUN_GOOD;
}

static void print_event(const char *engine, const bench_log *log, size_t place) {
  static const char *const kinds[] = {"alloc", "issue", "done"};
  if (place >= log->count || place >= log->capacity) {
    fprintf(stderr, "  %s: nothing\n", engine);
    return;
  }
  const sim_event *e = &log->events[place];
  fprintf(stderr, "  %s: cycle %" PRIu64 " %s %" PRIu32 "\n", engine, e->cycle, kinds[e->kind], e->index);
}

// The RTL's part of the program, and the same part on the cycle engine.
static void run_rtl(bench_state *b, const bench_program *p, bench_result *r) {
  bench_measured cycle;
  uint64_t limit = b->options->rtl_cycles;
  r->ran[ROW_RTL] = run_row(b, p, ROW_RTL, limit, b->rtl_log, &r->row[ROW_RTL]);
  if (!r->ran[ROW_RTL] || !run_row(b, p, ROW_CYCLE, limit, b->cycle_log, &cycle)) return;
  size_t place = bench_log_difference(b->rtl_log, b->cycle_log);
  r->events = b->rtl_log->count;
  // A run that was cut off ends where its engine could next take a command, which may be some quiet cycles later.
  const bench_measured *rtl = &r->row[ROW_RTL];
  r->rtl_agrees =
      place == SIZE_MAX && cycle.finished == rtl->finished && (!rtl->finished || cycle.cycles == rtl->cycles);
  if (r->rtl_agrees) return;
  complain(b, p, "cycle", "not the cycles of rtl");
  if (place == SIZE_MAX) {
    fprintf(stderr, "  rtl: %" PRIu64 " cycles\n  cycle: %" PRIu64 " cycles\n", r->row[ROW_RTL].cycles, cycle.cycles);
  } else {
    print_event("rtl", b->rtl_log, place);
    print_event("cycle", b->cycle_log, place);
  }
}

static bench_result run_program(bench_state *b, const bench_program *p) {
  bench_result r = {0};
  for (unsigned row = ROW_REF; row <= ROW_TIMING; row++) r.ran[row] = run_row(b, p, row, 0, NULL, &r.row[row]);
  r.timing_agrees = r.row[ROW_CYCLE].cycles == r.row[ROW_TIMING].cycles;
  if (r.ran[ROW_CYCLE] && r.ran[ROW_TIMING] && !r.timing_agrees)
    complain(b, p, rows[ROW_TIMING].label, "not the cycles of the run with data");
  if (!b->options->no_rtl) run_rtl(b, p, &r);
  wf_progress_end(&b->progress, false);
  return r;
}

// ---- figures

// Of an engine without cycles: those that the program takes, in its time.
static double rate(const bench_result *r, unsigned row) {
  uint64_t cycles = row == ROW_REF ? r->row[ROW_CYCLE].cycles : r->row[row].cycles;
  return r->ran[row] && r->row[row].cpu_seconds > 0 ? (double)cycles / r->row[row].cpu_seconds : 0;
}

// 0: not known.
static double ratio(const bench_result *r, unsigned row) {
  double rtl = rate(r, ROW_RTL);
  return rtl > 0 ? rate(r, row) / rtl : 0;
}

static const char *verdict(const bench_result *r, unsigned row) {
  if (!r->ran[row]) return "failed";
  switch (row) {
    case ROW_TIMING:
      return r->timing_agrees ? "cycles as with data" : "OTHER CYCLES";
    case ROW_RTL:
      if (!r->rtl_agrees) return "OTHER CYCLES";
      return r->row[ROW_RTL].finished ? "result, cycles as cycle" : "cycles as cycle, up to here";
    default:
      return "result";
  }
}

// ---- the tables

static const bench_column head_columns[] = {
    {.key = "array"}, {.key = "array_hash"}, {.key = "quick"}, {.key = "repeats"}, {.key = "rtl_cycles"}};
static const bench_form head_form = {BENCH_FORM(head_columns)};

static const bench_column columns[] = {
    {.title = "program", BENCH_DATA("program"), .width = -10},
    {BENCH_DATA("text")},
    {BENCH_DATA("macs")},
    {BENCH_DATA("commands")},
    {BENCH_DATA("compared_events")},
    {.title = "engine", .width = -20},
    {BENCH_DATA("engine")},
    {BENCH_DATA("timing_only")},
    {BENCH_DATA("good")},
    {BENCH_DATA("finished")},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 12, .none = "-"},
    {.title = "wall s", BENCH_DATA("wall_seconds"), .width = 9, .text_format = "%.4f"},
    {.title = "cpu s", BENCH_DATA("cpu_seconds"), .width = 9, .text_format = "%.4f"},
    {.title = "cycles/s", BENCH_DATA("cycles_per_second"), .width = 13},
    {.title = "x rtl", BENCH_DATA("ratio_to_rtl"), .width = 9, .text_format = "%.1f", .none = "-"},
    {.title = "peak MiB", BENCH_DATA("peak_bytes"), .width = 9, .text_format = "%.1f", .scale = 1.0 / (1 << 20)},
    {.title = "checked", BENCH_DATA("checked"), .gap = "  "},
};
enum { PROGRAM_COLUMNS = 5 };
static const bench_form form = {.list = "programs", .inner = "engines", .outer = PROGRAM_COLUMNS, BENCH_FORM(columns)};

static void add_row(bench_table *table, const bench_program *p, const bench_result *r, unsigned row, bool no_rtl) {
  const bench_measured *m = &r->row[row];
  BENCH_ROW(table, bench_text(p->name), bench_text(p->text), bench_count(p->macs), bench_count(p->count),
            bench_if(!no_rtl, bench_count(r->events)), bench_text(rows[row].label), bench_text(rows[row].engine),
            bench_flag(rows[row].options.timing_only), bench_flag(r->ran[row]), bench_flag(m->finished),
            bench_if(m->cycles != 0, bench_count(m->cycles)), bench_real(m->wall_seconds), bench_real(m->cpu_seconds),
            bench_real(rate(r, row)), bench_if(ratio(r, row) > 0, bench_real(ratio(r, row))),
            bench_count(m->peak_bytes), bench_text(verdict(r, row)));
}

static bench_table *open_tables(const bench_state *b) {
  const options *o = b->options;
  char limit[WF_THOUSANDS];
  BENCH_ROW(bench_table_open(b->report, &head_form), bench_text(b->array.name), bench_hash(hw_array_hash(&b->array)),
            bench_flag(o->quick), bench_count(o->repeats), bench_count(o->rtl_cycles));
  bench_report_say(b->report, "array %s, %s programs; best of %" PRIu64 " runs", b->array.name,
                   o->quick ? "quick" : "full", o->repeats);
  if (!o->no_rtl) bench_report_say(b->report, " (rtl: one of at most %s cycles)", wf_thousands(o->rtl_cycles, limit));
  bench_report_say(b->report, "\n\n");
  bench_table *table = bench_table_open(b->report, &form);
  bench_table_heading(table);
  return table;
}

static void add_program(const bench_state *b, bench_table *table, const bench_program *p, const bench_result *r) {
  const bool no_rtl = b->options->no_rtl;
  for (unsigned row = 0; row < (no_rtl ? ROW_RTL : ROWS); row++) add_row(table, p, r, row, no_rtl);
  bench_report_say(b->report, "%-10s %s, %zu commands\n", "", p->text, p->count);
}

// Over all programs: geometric mean, least and most of the ratio to rtl.
static void say_summary(const bench_state *b, const bench_result *results, size_t count) {
  bench_report_say(b->report, "\n");
  for (unsigned row = 0; row < ROW_RTL; row++) {
    wf_summary ratios = {0};
    for (size_t n = 0; n < count; n++) wf_summary_add(&ratios, ratio(&results[n], row));
    if (ratios.least <= 0) return;
    bench_report_say(b->report, "%-20s %.1f times rtl (geometric mean of %zu programs; %.1f to %.1f)\n",
                     rows[row].label, wf_summary_geometric(&ratios), count, ratios.least, ratios.most);
  }
}

// ---- the bench

// Builds the model, if need be: the memory of its compilers must not count as the engine's.
static bool build_rtl(bench_state *b) {
  bench_program *p = bench_program_create(0, true);
  bench_measured m;
  bool good = run_row(b, p, ROW_RTL, 1, b->rtl_log, &m);
  bench_program_destroy(p);
  return good;
}

static bool prepare(bench_state *b, wf_diag *diag) {
  size_t capacity = (size_t)b->options->rtl_cycles * EVENTS_PER_CYCLE;
  b->end = BENCH_BAD_INPUT;
  if (!hw_array_load(&b->array, BENCH_ARRAY, diag)) return false;
  b->end = BENCH_CANNOT_BUILD;
  for (unsigned row = 0; row < ROWS; row++) {
    if (sim_engine_find(rows[row].engine) != NULL) continue;
    wf_error(diag, wf_in_file(NULL), "this build has no engine %s", rows[row].engine);
    return false;
  }
  b->rtl_log = bench_log_create(capacity);
  b->cycle_log = bench_log_create(capacity);
  if (b->rtl_log == NULL || b->cycle_log == NULL) {
    wf_error(diag, wf_in_file(NULL), "no memory for the events of %" PRIu64 " cycles", b->options->rtl_cycles);
    return false;
  }
  b->end = BENCH_DONE;
  return b->options->no_rtl || build_rtl(b);
}

static void run_programs(bench_state *b) {
  size_t count = bench_program_count();
  bench_result *results = wf_calloc(count, sizeof *results);
  bench_table *table = open_tables(b);
  for (size_t n = 0; n < count; n++) {
    bench_program *p = bench_program_create(n, b->options->quick);
    results[n] = run_program(b, p);
    add_program(b, table, p, &results[n]);
    bench_program_destroy(p);
  }
  say_summary(b, results, count);
  wf_free(results);
}

static bench_end run_engines(const bench_job *job) {
  const options *o = job->options;
  if (o->repeats == 0 || o->rtl_cycles == 0 || o->rtl_cycles > UINT32_MAX) {
    wf_error(job->diag, wf_in_file(NULL), "--repeat and --rtl-cycles are numbers from 1 on");
    wf_hint(job->diag, "weft bench engines --help");
    return BENCH_BAD_USAGE;
  }
  bench_state b = {.options = o,
                   .report = job->report,
                   .quiet = job->quiet,
                   .progress = wf_progress_begin(job->quiet, 0, NOTE_SECONDS)};
  b.progress.last = 0;  // the first line comes at once
  if (prepare(&b, job->diag)) run_programs(&b);
  bench_log_destroy(b.rtl_log);
  bench_log_destroy(b.cycle_log);
  return b.end;
}

static const wf_option option_rows[] = {
    {"quick", WF_FLAG(options, quick), NULL, "small programs that every engine runs to the end"},
    {"no-rtl", WF_FLAG(options, no_rtl), NULL, "leave out rtl, whose model takes minutes to build"},
    {"rtl-cycles", WF_COUNT(options, rtl_cycles), "N", "of each program on rtl (default 50000)"},
    {"repeat", WF_COUNT(options, repeats), "N",
     "runs of the other engines; the one with the least CPU time counts (default 3)"},
};
static const options defaults = {.repeats = DEFAULT_REPEATS, .rtl_cycles = DEFAULT_RTL_CYCLES};

const bench bench_engines = {
    .name = "engines",
    .summary = "speed and memory of the engines on the same programs",
    .synopsis = "",
    .text = "Runs matrix products and layers of ResNet-50 on array " BENCH_ARRAY
            " with the engines ref, cycle\n"
            "(with data, and timing only) and rtl, checks results and cycles, and prints how fast each was.\n"
            "ref has no cycles: its rate counts those that the program takes on the others.\n"
            "Exit code: 0 good, 3 an engine cannot be built, 4 a result or a cycle differs.",
    BENCH_OPTIONS(option_rows, defaults),
    .run = run_engines};
