// SPDX-License-Identifier: Apache-2.0
// Builds the hardware of an array: see build.h.
//
// Steps in the entry's directory: write the packages, the sources and the shell; verilator makes C++ of them; that is
// compiled in a few units (`jobs` at a time); the objects become model.so. Sources and objects are then
// removed, the array package stays, so that a reader can tell what the entry is.
#include "sim/rtl/build.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/process.h"
#include "hw/rtl_files.h"
#include "sim/rtl/cache.h"
#include "sim/rtl/shim_files.h"

enum { LINE = 512, JOBS = 2, UNIT_BYTES = 1 << 20 };

#define PACKAGE "weft_array_pkg.sv"
#define MODEL "model.so"

// Part of the key. -O3: Verilator's own optimisation. Assertions of the RTL stop the simulation.
static const char *const verilator_flags[] = {
    "-O3",      "--x-assign", "unique",           "--x-initial",  "unique",     "--assert", "-Wno-fatal",
    "--prefix", "Vweft",      "-DWEFT_ASSERT_ON", "--top-module", "weft_accel", NULL};
// -O1: compiles in half the time of -O2 and runs as fast (measured). Verilator prints to stdout, which is the simulated
// program's.
static const char *const compiler_flags[] = {"-std=c++17",
                                             "-O1",
                                             "-fPIC",
                                             "-w",
                                             "-pthread",
                                             "-faligned-new",
                                             "-fvisibility=hidden",
                                             "-fno-gnu-unique",
                                             "-DVM_COVERAGE=0",
                                             "-DVM_TRACE_VCD=0",
                                             "-DVERILATOR=1",
                                             "-DVL_PRINTF(...)=fprintf(stderr,__VA_ARGS__)",
                                             NULL};

typedef struct words {
  const char **item;
  size_t count;
} words;

static void add(words *w, const char *text) {
  w->item = wf_realloc(w->item, w->count + 1, sizeof *w->item);
  w->item[w->count++] = text;
}
static void add_all(words *w, const char *const *texts) {
  for (size_t i = 0; texts[i] != NULL; i++) add(w, texts[i]);
}

typedef struct builder {
  const hw_array *array;
  const sim_rtl_build_options *options;
  wf_diag *diag;
  char version[LINE];  // of Verilator
  char root[LINE];     // where its headers are
  char *package;       // text of the array package
  size_t package_length;
  const char *folder;  // where the current step works, and its log
  const char *log;
  words library;  // objects of Verilator's own code
  words owned;    // strings to free
} builder;

// A string that lives as long as the builder.
static const char *keep(builder *b, char *text) {
  add(&b->owned, text);
  return text;
}

// ---- key

// Arrays that differ only in what surrounds the accelerator share one model.
static bool write_package(builder *b) {
  FILE *out = open_memstream(&b->package, &b->package_length);
  bool good = out != NULL && hw_write_model_package(b->array, out);
  if (out != NULL) good = fclose(out) == 0 && good;
  if (!good) wf_error(b->diag, wf_in_file(NULL), "cannot write the package of array %s", b->array->name);
  return good;
}

static uint64_t hash_text(uint64_t hash, const char *text) { return wf_hash(hash, text, strlen(text) + 1); }

static const char *kernel_flag(const builder *b) { return b->options->systemc ? "-DVM_SC=1" : "-DVM_SC=0"; }

static uint64_t hash_flags(const builder *b) {
  uint64_t hash = hash_text(hash_text(WF_HASH_START, b->version), kernel_flag(b));
  for (size_t i = 0; compiler_flags[i] != NULL; i++) hash = hash_text(hash, compiler_flags[i]);
  return hash;
}

static char *make_key(const builder *b) {
  uint64_t hash = hash_text(hash_flags(b), b->package);
  for (size_t i = 0; verilator_flags[i] != NULL; i++) hash = hash_text(hash, verilator_flags[i]);
  for (size_t i = 0; i < hw_rtl_file_count; i++) {
    hash = hash_text(hash, hw_rtl_files[i].name);
    hash = hash_text(hash, hw_rtl_files[i].text);
  }
  for (size_t i = 0; i < sim_rtl_file_count; i++) hash = hash_text(hash, sim_rtl_files[i].text);
  return wf_format("rtl-%016" PRIx64 "%s%s", hash, b->options->wave ? "-wave" : "", b->options->systemc ? "-sc" : "");
}

// ---- files

static bool write_file(builder *b, const char *name, const char *text) {
  char *path = wf_format("%s/%s", b->folder, name);
  FILE *out = fopen(path, "w");
  bool good = out != NULL && fputs(text, out) >= 0;
  if (out != NULL) good = fclose(out) == 0 && good;
  if (!good) wf_error(b->diag, wf_in_file(path), "cannot write the file: %s", strerror(errno));
  wf_free(path);
  return good;
}

static bool write_sources(builder *b) {
  bool good = write_file(b, PACKAGE, b->package);
  for (size_t i = 0; good && i < hw_rtl_file_count; i++)
    good = write_file(b, hw_rtl_files[i].name, hw_rtl_files[i].text);
  for (size_t i = 0; good && i < sim_rtl_file_count; i++)
    good = write_file(b, sim_rtl_files[i].name, sim_rtl_files[i].text);
  return good;
}

// The finished entry keeps the model, the package and the time it took.
static void remove_sources(const builder *b) {
  DIR *directory = opendir(b->folder);
  struct dirent *entry;
  while (directory != NULL && (entry = readdir(directory)) != NULL) {
    if (entry->d_name[0] == '.' || strcmp(entry->d_name, MODEL) == 0 || strcmp(entry->d_name, PACKAGE) == 0) continue;
    char *path = wf_format("%s/%s", b->folder, entry->d_name);
    remove(path);
    wf_free(path);
  }
  if (directory != NULL) closedir(directory);
}

// ---- steps

// False: the build is to end.
static bool progress(const builder *b, const char *format, double a, double c) {
  char text[LINE];
  snprintf(text, sizeof text, format, a, c);
  if (b->options->tell != NULL) return b->options->tell(b->options->context, text);
  if (!b->options->quiet) fprintf(stderr, "weft: hardware of array %s: %s\n", b->array->name, text);
  return true;
}

static void say_waiting(void *context) { progress(context, "another process is building it, waiting", 0, 0); }

static void enter(builder *b, const char *folder) {
  b->folder = folder;
  b->log = keep(b, wf_format("%s/log", folder));
}

static bool missing(builder *b, const char *program) {
  wf_error(b->diag, wf_in_file(NULL), "engine rtl needs %s, which is not there", program);
  wf_hint(b->diag, "apt-get install verilator g++");
  return false;
}

static void show_log(const builder *b) {
  FILE *log = fopen(b->log, "r");
  char line[LINE];
  while (log != NULL && b->diag->out != NULL && fgets(line, sizeof line, log) != NULL) fputs(line, b->diag->out);
  if (log != NULL) fclose(log);
}

static bool run(builder *b, const wf_process_argv *commands, size_t count) {
  unsigned jobs = b->options->jobs == 0 ? JOBS : b->options->jobs;
  switch (wf_process_run(commands, count, jobs, b->log)) {
    case WF_PROCESS_DONE:
      return true;
    case WF_PROCESS_MISSING:
      return missing(b, commands[0][0]);
    case WF_PROCESS_FAILED:
      break;
  }
  show_log(b);
  wf_error(b->diag, wf_in_file(NULL), "%s cannot build the hardware of array %s", commands[0][0], b->array->name);
  return false;
}

static bool find_verilator(builder *b) {
  const char *const quick[] = {"verilator_bin", "--version", NULL}, *const slow[] = {"verilator", "--version", NULL};
  wf_process_result got = wf_process_line(quick, b->version, sizeof b->version);
  if (got != WF_PROCESS_DONE) got = wf_process_line(slow, b->version, sizeof b->version);
  return got == WF_PROCESS_DONE || missing(b, "verilator");
}

static bool find_headers(builder *b) {
  const char *const command[] = {"verilator", "--getenv", "VERILATOR_ROOT", NULL};
  return wf_process_line(command, b->root, sizeof b->root) == WF_PROCESS_DONE || missing(b, "verilator");
}

static bool verilate(builder *b) {
  words w = {0};
  add(&w, "verilator");
  add(&w, b->options->systemc ? "--sc" : "--cc");
  add_all(&w, verilator_flags);
  if (b->options->wave) add(&w, "--trace-fst");
  add(&w, "--Mdir");
  add(&w, b->folder);
  add(&w, keep(b, wf_format("-I%s", b->folder)));
  // Packages first: they lead the list, the array package uses nothing.
  add(&w, keep(b, wf_format("%s/" PACKAGE, b->folder)));
  for (size_t i = 0; i < hw_rtl_file_count; i++)
    if (!hw_rtl_is_header(hw_rtl_files[i].name)) add(&w, keep(b, wf_format("%s/%s", b->folder, hw_rtl_files[i].name)));
  add(&w, NULL);
  const wf_process_argv command = w.item;
  bool good = run(b, &command, 1);
  wf_free(w.item);
  return good;
}

typedef struct source {
  const char *path;
  off_t size;
} source;

typedef struct sources {
  source *item;
  size_t count;
} sources;

static void add_source(builder *b, sources *s, char *path) {
  struct stat status = {0};
  stat(path, &status);
  s->item = wf_realloc(s->item, s->count + 1, sizeof *s->item);
  s->item[s->count++] = (source){.path = keep(b, path), .size = status.st_size};
}

// The big ones first, so that no compiler is left alone with one at the end.
static int by_size(const void *left, const void *right) {
  off_t a = ((const source *)left)->size, b = ((const source *)right)->size;
  return a < b ? 1 : a > b ? -1 : 0;
}

static bool ends_in(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

// Verilator's names for what only sets the model up.
static bool runs_once(const char *path) { return ends_in(path, "__Slow.cpp") || ends_in(path, "__Syms.cpp"); }

static bool list_sources(builder *b, sources *s) {
  DIR *directory = opendir(b->folder);
  struct dirent *entry;
  while (directory != NULL && (entry = readdir(directory)) != NULL)
    if (ends_in(entry->d_name, ".cpp")) add_source(b, s, wf_format("%s/%s", b->folder, entry->d_name));
  if (directory != NULL) closedir(directory);
  if (s->count != 0) qsort(s->item, s->count, sizeof *s->item, by_size);
  return s->count != 0;
}

// Reading Verilator's headers takes longer than compiling a small file behind them, so files share compilations: what
// only sets the model up is one unit, the rest is dealt out to as many units as keep the compilers busy.
typedef struct unit {
  char *text;  // its include lines
  off_t size;
} unit;

static void include(unit *u, const source *file) {
  char *text = wf_format("%s#include \"%s\"\n", u->text == NULL ? "" : u->text, file->path);
  wf_free(u->text);
  u->text = text;
  u->size += file->size;
}

static unit *smallest(unit *units, size_t count) {
  unit *best = &units[0];
  for (size_t i = 1; i < count; i++)
    if (units[i].size < best->size) best = &units[i];
  return best;
}

static size_t unit_count(const builder *b, const sources *files) {
  off_t total = 0;
  for (size_t i = 0; i < files->count; i++) total += files->item[i].size;
  size_t wanted = (size_t)(total / UNIT_BYTES), jobs = b->options->jobs == 0 ? JOBS : b->options->jobs;
  return wanted > jobs ? wanted : jobs;
}

static bool write_unit(builder *b, const char *name, unit *u, sources *s) {
  bool good = u->text == NULL || write_file(b, name, u->text);
  if (u->text != NULL) add_source(b, s, wf_format("%s/%s", b->folder, name));
  wf_free(u->text);
  return good;
}

static bool make_units(builder *b, const sources *files, sources *s) {
  size_t count = unit_count(b, files);
  unit *units = WF_NEW_ARRAY(count, unit), slow = {0};
  for (size_t i = 0; i < files->count; i++)
    include(runs_once(files->item[i].path) ? &slow : smallest(units, count), &files->item[i]);
  bool good = true;
  for (size_t i = 0; i < count; i++) {
    char name[32];
    snprintf(name, sizeof name, "unit%zu.cpp", i);
    good = write_unit(b, name, &units[i], s) && good;
  }
  wf_free(units);
  return write_unit(b, "unit__Slow.cpp", &slow, s) && good;
}

static const char *object_of(builder *b, const char *path) {
  const char *slash = strrchr(path, '/');
  return keep(b, wf_format("%s/%s.o", b->folder, slash + 1));
}

static words compiler(builder *b) {
  words w = {0};
  add(&w, "g++");
  add_all(&w, compiler_flags);
  add(&w, kernel_flag(b));
  add(&w, b->options->wave ? "-DVM_TRACE=1" : "-DVM_TRACE=0");
  add(&w, b->options->wave ? "-DVM_TRACE_FST=1" : "-DVM_TRACE_FST=0");
  add(&w, keep(b, wf_format("-I%s", b->folder)));
  add(&w, keep(b, wf_format("-I%s/include", b->root)));
  add(&w, keep(b, wf_format("-I%s/include/vltstd", b->root)));
  return w;
}

static bool compile(builder *b, const sources *s) {
  wf_process_argv *commands = WF_NEW_ARRAY(s->count, wf_process_argv);
  for (size_t i = 0; i < s->count; i++) {
    words w = compiler(b);
    if (runs_once(s->item[i].path)) add(&w, "-O0");
    add(&w, "-c");
    add(&w, s->item[i].path);
    add(&w, "-o");
    add(&w, object_of(b, s->item[i].path));
    add(&w, NULL);
    commands[i] = w.item;
  }
  bool good = run(b, commands, s->count);
  for (size_t i = 0; i < s->count; i++) wf_free((void *)commands[i]);
  wf_free(commands);
  return good;
}

static bool link_model(builder *b, const sources *s) {
  words w = {0};
  add(&w, "g++");
  add(&w, "-shared");
  add(&w, "-Wl,-Bsymbolic");
  add(&w, "-pthread");
  add(&w, "-o");
  add(&w, keep(b, wf_format("%s/" MODEL, b->folder)));
  for (size_t i = 0; i < s->count; i++) add(&w, object_of(b, s->item[i].path));
  for (size_t i = 0; i < b->library.count; i++) add(&w, b->library.item[i]);
  if (b->options->wave) add(&w, "-lz");
  if (b->options->systemc) add(&w, "-lsystemc");
  add(&w, NULL);
  const wf_process_argv command = w.item;
  bool good = run(b, &command, 1);
  wf_free(w.item);
  return good;
}

// ---- Verilator's own code, compiled once for all models

static bool compile_library(builder *b, sim_cache_entry *entry, const sources *s) {
  if (entry->present) return true;
  enter(b, entry->building);
  return compile(b, s) && sim_cache_publish(entry, b->diag);
}

static bool find_library(builder *b) {
  static const char *const names[] = {"verilated", "verilated_threads", "verilated_fst_c"};
  sim_cache_entry entry;
  sources s = {0};
  char *key = wf_format("verilator-%016" PRIx64 "%s", hash_flags(b), b->options->wave ? "-wave" : "");
  bool good = sim_cache_open(&entry, key, say_waiting, b, b->diag);
  wf_free(key);
  if (!good) return false;
  for (size_t i = 0; i < (b->options->wave ? 3 : 2); i++) {
    add_source(b, &s, wf_format("%s/include/%s.cpp", b->root, names[i]));
    add(&b->library, keep(b, wf_format("%s/%s.cpp.o", entry.path, names[i])));
  }
  good = compile_library(b, &entry, &s);
  wf_free(s.item);
  sim_cache_close(&entry);
  return good;
}

// ---- the model

static bool compile_and_link(builder *b) {
  sources files = {0}, s = {0};
  bool good = list_sources(b, &files) && make_units(b, &files, &s) && compile(b, &s) && link_model(b, &s);
  wf_free(files.item);
  wf_free(s.item);
  return good;
}

static bool build(builder *b, const char *folder, double *seconds) {
  double start = wf_seconds();
  const char *what = b->options->wave ? "building with waveforms (once, then cached)" : "building (once, then cached)";
  if (!progress(b, what, 0, 0) || !find_headers(b) || !find_library(b)) return false;
  enter(b, folder);
  if (!write_sources(b) || !verilate(b)) return false;
  double middle = wf_seconds();
  if (!progress(b, "verilator done after %.1f s, compiling", middle - start, 0) || !compile_and_link(b)) return false;
  *seconds = wf_seconds() - start;
  progress(b, "built in %.1f s (verilator %.1f s)", *seconds, middle - start);
  return true;
}

#define SECONDS_FILE ".seconds"

static bool note_seconds(builder *b, double seconds) {
  char text[32];
  snprintf(text, sizeof text, "%.1f\n", seconds);
  return write_file(b, SECONDS_FILE, text);
}

static double noted_seconds(const char *folder) {
  char *path = wf_format("%s/" SECONDS_FILE, folder);
  FILE *in = fopen(path, "r");
  double seconds = 0;
  if (in != NULL && fscanf(in, "%lf", &seconds) != 1) seconds = 0;
  if (in != NULL) fclose(in);
  wf_free(path);
  return seconds;
}

static bool build_entry(builder *b, sim_cache_entry *entry, double *seconds) {
  bool good = build(b, entry->building, seconds) && note_seconds(b, *seconds);
  if (good) remove_sources(b);
  return good && sim_cache_publish(entry, b->diag);
}

static bool find_or_build(builder *b, sim_rtl_model *model) {
  sim_cache_entry entry;
  char *key = make_key(b);
  bool good = sim_cache_open(&entry, key, say_waiting, b, b->diag);
  wf_free(key);
  if (!good) return false;
  model->cached = entry.present;
  if (model->cached)
    model->seconds = noted_seconds(entry.path);
  else
    good = build_entry(b, &entry, &model->seconds);
  if (good) model->path = wf_format("%s/" MODEL, entry.path);
  sim_cache_close(&entry);
  return good;
}

bool sim_rtl_build(const hw_array *array, const sim_rtl_build_options *options, sim_rtl_model *model, wf_diag *diag) {
  builder b = {.array = array, .options = options, .diag = diag};
  *model = (sim_rtl_model){0};
  bool good = hw_array_check(array, NULL, diag) && find_verilator(&b) && write_package(&b) && find_or_build(&b, model);
  for (size_t i = 0; i < b.owned.count; i++) wf_free((void *)b.owned.item[i]);
  wf_free(b.owned.item);
  wf_free(b.library.item);
  free(b.package);  // of open_memstream
  return good;
}
