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
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/bench.h"
#include "cli/bench_run.h"

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

typedef struct bench_options {
  bool quick, no_rtl;
  uint64_t repeats, rtl_cycles;
} bench_options;

typedef struct bench_state {
  const bench_options *options;
  hw_array array;
  bench_log *rtl_log, *cycle_log;
  bool terminal, quiet, table;
  time_t noted;
  cli_exit exit;
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

static void note(bench_state *b, const char *program, const char *engine) {
  time_t now = time(NULL);
  if (b->quiet || (!b->terminal && now < b->noted + NOTE_SECONDS)) return;
  b->noted = now;
  fprintf(stderr, "%sweft: %s on %s%s", b->terminal ? "\r" : "", program, engine, b->terminal ? "\033[K" : "\n");
  fflush(stderr);
}

static void clear_note(const bench_state *b) {
  if (!b->quiet && b->terminal) fputs("\r\033[K", stderr);
}

static void complain(bench_state *b, const bench_program *p, const char *engine, const char *what) {
  clear_note(b);
  fprintf(stderr, "weft: error: %s on %s: %s\n", p->name, engine, what);
  b->exit = CLI_MISMATCH;
}

static void explain(bench_state *b, const bench_program *p, const char *engine, const bench_measured *m) {
  char text[64];
  switch (m->status) {
    case BENCH_GOOD:
      return;
    case BENCH_CANNOT_BUILD:
      complain(b, p, engine, "the engine cannot be built");
      b->exit = CLI_CANNOT_BUILD;
      return;
    case BENCH_FAULT:
      complain(b, p, engine, m->fault);
      return;
    case BENCH_WRONG:
      snprintf(text, sizeof text, "%zu bytes of the result are wrong", m->wrong);
      complain(b, p, engine, text);
      return;
    case BENCH_CRASHED:
      complain(b, p, engine, "the engine's process ended");
      return;
  }
}

static bool run_row(bench_state *b, const bench_program *p, unsigned row, uint64_t limit, bench_log *log,
                    bench_measured *m) {
  sim_engine_options options = rows[row].options;
  options.quiet = b->quiet;
  const bench_run run = {.program = p,
                         .array = &b->array,
                         .engine = sim_engine_find(rows[row].engine),
                         .options = &options,
                         .limit = limit,
                         .repeats = log == NULL ? (unsigned)b->options->repeats : 1,
                         .log = log};
  note(b, p->name, rows[row].label);
  *m = bench_run_program(&run);
  explain(b, p, rows[row].label, m);
  return m->status == BENCH_GOOD;
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
  clear_note(b);
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

static void print_row(const bench_program *p, const bench_result *r, unsigned row) {
  char cycles[CLI_NUMBER] = "-", speed[CLI_NUMBER], times[32] = "-";
  const bench_measured *m = &r->row[row];
  if (m->cycles != 0) cli_number(m->cycles, cycles);
  if (ratio(r, row) > 0) snprintf(times, sizeof times, "%.1f", ratio(r, row));
  printf("%-10s %-20s %12s %9.4f %9.4f %13s %9s %9.1f  %s\n", row == 0 ? p->name : "", rows[row].label, cycles,
         m->wall_seconds, m->cpu_seconds, cli_number((uint64_t)rate(r, row), speed), times,
         (double)m->peak_bytes / (1 << 20), verdict(r, row));
}

static void print_header(const bench_state *b) {
  char limit[CLI_NUMBER];
  printf("array %s, %s programs; best of %" PRIu64 " runs", b->array.name, b->options->quick ? "quick" : "full",
         b->options->repeats);
  if (!b->options->no_rtl) printf(" (rtl: one of at most %s cycles)", cli_number(b->options->rtl_cycles, limit));
  puts("\n");
  printf("%-10s %-20s %12s %9s %9s %13s %9s %9s  %s\n", "program", "engine", "cycles", "wall s", "cpu s", "cycles/s",
         "x rtl", "peak MiB", "checked");
}

static void print_program(const bench_program *p, const bench_result *r, bool no_rtl) {
  for (unsigned row = 0; row < (no_rtl ? ROW_RTL : ROWS); row++) print_row(p, r, row);
  printf("%-10s %s, %zu commands\n", "", p->text, p->count);
}

// Over all programs: geometric mean, least and most of the ratio to rtl.
static void print_summary(const bench_result *results, size_t count) {
  puts("");
  for (unsigned row = 0; row < ROW_RTL; row++) {
    double logs = 0, least = INFINITY, most = 0;
    for (size_t n = 0; n < count; n++) {
      double x = ratio(&results[n], row);
      if (x <= 0) return;
      logs += log(x);
      least = fmin(least, x);
      most = fmax(most, x);
    }
    printf("%-20s %.1f times rtl (geometric mean of %zu programs; %.1f to %.1f)\n", rows[row].label,
           exp(logs / (double)count), count, least, most);
  }
}

// ---- JSON

static cJSON *row_json(const bench_result *r, unsigned row) {
  const bench_measured *m = &r->row[row];
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "engine", rows[row].engine);
  cJSON_AddBoolToObject(object, "timing_only", rows[row].options.timing_only);
  cJSON_AddBoolToObject(object, "good", r->ran[row]);
  cJSON_AddBoolToObject(object, "finished", m->finished);
  if (m->cycles != 0) cli_json_count(object, "cycles", m->cycles);
  cJSON_AddNumberToObject(object, "wall_seconds", m->wall_seconds);
  cJSON_AddNumberToObject(object, "cpu_seconds", m->cpu_seconds);
  cJSON_AddNumberToObject(object, "cycles_per_second", rate(r, row));
  if (ratio(r, row) > 0) cJSON_AddNumberToObject(object, "ratio_to_rtl", ratio(r, row));
  cli_json_count(object, "peak_bytes", m->peak_bytes);
  cJSON_AddStringToObject(object, "checked", verdict(r, row));
  return object;
}

static cJSON *program_json(const bench_program *p, const bench_result *r, bool no_rtl) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "program", p->name);
  cJSON_AddStringToObject(object, "text", p->text);
  cli_json_count(object, "macs", p->macs);
  cli_json_count(object, "commands", p->count);
  if (!no_rtl) cli_json_count(object, "compared_events", r->events);
  cJSON *list = cJSON_AddArrayToObject(object, "engines");
  for (unsigned row = 0; row < (no_rtl ? ROW_RTL : ROWS); row++) cJSON_AddItemToArray(list, row_json(r, row));
  return object;
}

static cJSON *document(const bench_state *b) {
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "bench", "engines");
  cJSON_AddStringToObject(root, "array", b->array.name);
  cli_json_hash(root, "array_hash", hw_array_hash(&b->array));
  cJSON_AddBoolToObject(root, "quick", b->options->quick);
  cli_json_count(root, "repeats", b->options->repeats);
  cli_json_count(root, "rtl_cycles", b->options->rtl_cycles);
  cJSON_AddArrayToObject(root, "programs");
  return root;
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
  b->exit = CLI_BAD_INPUT;
  if (!hw_array_load(&b->array, BENCH_ARRAY, diag)) return false;
  b->exit = CLI_CANNOT_BUILD;
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
  b->exit = CLI_OK;
  return b->options->no_rtl || build_rtl(b);
}

static void run_programs(bench_state *b, cJSON *json) {
  size_t count = bench_program_count();
  bench_result *results = wf_calloc(count, sizeof *results);
  bool no_rtl = b->options->no_rtl;
  if (b->table) print_header(b);
  for (size_t n = 0; n < count; n++) {
    bench_program *p = bench_program_create(n, b->options->quick);
    results[n] = run_program(b, p);
    if (b->table) print_program(p, &results[n], no_rtl);
    cJSON_AddItemToArray(cJSON_GetObjectItem(json, "programs"), program_json(p, &results[n], no_rtl));
    bench_program_destroy(p);
  }
  if (b->table) print_summary(results, count);
  wf_free(results);
}

static int bench_engines(const bench_options *options, const cli_common *common) {
  wf_diag diag = wf_diag_to(stderr);
  bench_state b = {.options = options,
                   .terminal = isatty(STDERR_FILENO) != 0,
                   .quiet = common->quiet,
                   .table = !common->quiet && (common->json == NULL || strcmp(common->json, "-") != 0)};
  if (prepare(&b, &diag)) {
    cJSON *json = document(&b);
    run_programs(&b, json);
    if (common->json == NULL)
      cJSON_Delete(json);
    else if (!cli_write_json(common->json, json, &diag))
      b.exit = CLI_BAD_INPUT;
  }
  bench_log_destroy(b.rtl_log);
  bench_log_destroy(b.cycle_log);
  return (int)b.exit;
}

int cli_bench_engines(int argc, char **argv) {
  bench_options options = {.repeats = DEFAULT_REPEATS, .rtl_cycles = DEFAULT_RTL_CYCLES};
  const cli_option table[] = {
      {"quick", CLI_OPTION_FLAG, &options.quick, NULL, "small programs that every engine runs to the end"},
      {"no-rtl", CLI_OPTION_FLAG, &options.no_rtl, NULL, "leave out rtl, whose model takes minutes to build"},
      {"rtl-cycles", CLI_OPTION_COUNT, &options.rtl_cycles, "N", "of each program on rtl (default 50000)"},
      {"repeat", CLI_OPTION_COUNT, &options.repeats, "N",
       "runs of the other engines; the one with the least CPU time counts (default 3)"},
  };
  const cli_usage usage = {
      .verb = "bench engines",
      .synopsis = "",
      .text = "Runs matrix products and layers of ResNet-50 on array " BENCH_ARRAY
              " with the engines ref, cycle\n"
              "(with data, and timing only) and rtl, checks results and cycles, and prints how fast each was.\n"
              "ref has no cycles: its rate counts those that the program takes on the others.\n"
              "Exit code: 0 good, 3 an engine cannot be built, 4 a result or a cycle differs.",
      .options = table,
      .option_count = sizeof table / sizeof table[0]};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  if (options.repeats == 0 || options.rtl_cycles == 0 || options.rtl_cycles > UINT32_MAX) {
    fputs("weft: error: --repeat and --rtl-cycles are numbers from 1 on\n  hint: weft bench engines --help\n", stderr);
    return CLI_USAGE;
  }
  return bench_engines(&options, &common);
}
