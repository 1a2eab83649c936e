// SPDX-License-Identifier: Apache-2.0
// Changed files and texts for every reader of the tool: `count` of them, one run of the tool for each, with at most 10
// s and 4 GB. A run must end with an exit code of docs/cli.md, or say that there is no memory; others are failures, and
// what they read is kept.
//
// usage: mutate WEFT LIST WORK_DIR COUNT SEED
// A line of LIST is a reader: the ending of its file, or `text` where the tool takes the text itself; files to begin
// with, separated by `|`; the words of the command, where @ is the file or the text.
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

enum { READERS_MAX = 64, SEEDS_MAX = 64, WORDS_MAX = 32, LINE_MAX_BYTES = 1 << 14, INPUT_MAX = 1 << 20 };
enum { SECONDS = 10, EXIT_MAX = 10, NO_MEMORY = 70, FOUND = 99, FAILURES_MAX = 20 };

typedef struct bytes {
  char *at;
  size_t length;
} bytes;

typedef struct reader {
  char *line, *ending, *words[WORDS_MAX];
  int word_count;
  bytes seeds[SEEDS_MAX];
  int seed_count;
} reader;

typedef struct mutator {
  const char *weft;
  uint64_t state;
  reader readers[READERS_MAX];
  int reader_count;
  unsigned long runs, refused, accepted, failures;
} mutator;

static uint64_t next(mutator *m, uint64_t below) {
  m->state ^= m->state << 13;
  m->state ^= m->state >> 7;
  m->state ^= m->state << 17;
  return below == 0 ? 0 : (m->state >> 11) % below;
}

// ---- readers

static bool read_seeds(reader *r, char *list) {
  char *rest = NULL;
  wf_diag diag = wf_diag_to(stderr);
  for (char *path = strtok_r(list, "|", &rest); path != NULL && r->seed_count < SEEDS_MAX;
       path = strtok_r(NULL, "|", &rest)) {
    bytes *seed = &r->seeds[r->seed_count];
    seed->at = wf_read_file(path, 0, &seed->length, &diag);
    if (seed->at == NULL) return false;
    if (seed->length <= INPUT_MAX) r->seed_count++;
  }
  return r->seed_count > 0;
}

static bool read_reader(mutator *m, const char *line) {
  reader *r = &m->readers[m->reader_count];
  char *rest = NULL, *seeds;
  r->line = wf_strdup(line);
  r->ending = strtok_r(r->line, " \n", &rest);
  seeds = strtok_r(NULL, " \n", &rest);
  if (r->ending == NULL || seeds == NULL) return false;
  for (char *word = strtok_r(NULL, " \n", &rest); word != NULL; word = strtok_r(NULL, " \n", &rest))
    if (r->word_count < WORDS_MAX - 2) r->words[r->word_count++] = word;
  m->reader_count++;
  return read_seeds(r, seeds);
}

static bool read_list(mutator *m, const char *path) {
  char line[LINE_MAX_BYTES];
  FILE *list = fopen(path, "r");
  bool good = list != NULL;
  while (good && m->reader_count < READERS_MAX && fgets(line, sizeof line, list) != NULL) good = read_reader(m, line);
  if (list != NULL) fclose(list);
  if (!good) fprintf(stderr, "%s: cannot be read\n", path);
  return good;
}

// ---- changes

static void insert(bytes *b, size_t place, const char *text, size_t length) {
  b->at = wf_realloc(b->at, b->length + length + 1, 1);
  memmove(b->at + place + length, b->at + place, b->length - place);
  memcpy(b->at + place, text, length);
  b->length += length;
}

static void cut(bytes *b, size_t place, size_t length) {
  if (length > b->length - place) length = b->length - place;
  memmove(b->at + place, b->at + place + length, b->length - place - length);
  b->length -= length;
}

// A number in the text becomes one at some limit.
static void change_number(mutator *m, bytes *b) {
  static const char *const limits[] = {"0",
                                       "-1",
                                       "1",
                                       "127",
                                       "128",
                                       "255",
                                       "65536",
                                       "2147483647",
                                       "2147483648",
                                       "4294967296",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "99999999999999999999",
                                       "1e308",
                                       "nan",
                                       "inf",
                                       "0x7f",
                                       "1.5",
                                       "''",
                                       "[]",
                                       "{}"};
  const char *limit = limits[next(m, sizeof limits / sizeof *limits)];
  size_t at = next(m, b->length), end;
  while (at < b->length && (b->at[at] < '0' || b->at[at] > '9')) at++;
  for (end = at; end < b->length && b->at[end] >= '0' && b->at[end] <= '9';) end++;
  cut(b, at, end - at);
  insert(b, at, limit, strlen(limit));
}

static void change(mutator *m, bytes *b) {
  if (b->length == 0) insert(b, 0, "0", 1);
  const size_t at = next(m, b->length), length = 1 + next(m, next(m, 4) == 0 ? 200 : 8);
  char piece[256];
  switch (next(m, 8)) {
    case 0:
      b->at[at] = (char)(b->at[at] ^ 1 << next(m, 8));
      break;
    case 1:
      b->at[at] = (char)next(m, 256);
      break;
    case 2:
      cut(b, at, length);
      break;
    case 3:
      for (size_t i = 0; i < length; i++) piece[i] = b->at[(at + i) % b->length];
      insert(b, next(m, b->length + 1), piece, length);
      break;
    case 4:
      for (size_t i = 0; i < length; i++) piece[i] = (char)next(m, 256);
      insert(b, at, piece, length);
      break;
    case 5:
      if (next(m, 4) == 0) b->length = at;
      break;
    case 6:
      memset(piece, next(m, 2) == 0 ? 0xff : 0, sizeof piece);
      for (size_t i = 0; i < length && at + i < b->length; i++) b->at[at + i] = piece[i];
      break;
    default:
      change_number(m, b);
  }
}

static bytes changed(mutator *m, const reader *r) {
  const bytes *seed = &r->seeds[next(m, (uint64_t)r->seed_count)];
  bytes b = {memcpy(wf_alloc(seed->length + 1, 1), seed->at, seed->length), seed->length};
  for (uint64_t n = 1 + next(m, 1 + next(m, 5)); n > 0; n--) change(m, &b);
  return b;
}

// ---- runs

static void limit(int what, rlim_t most) { setrlimit(what, &(struct rlimit){most, most}); }

// What the sanitizers reserve is no memory: with them the limit is on what is used.
static void run_child(char *const *argv) {
  const int in = open("/dev/null", O_RDONLY), out = open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(in, 0), dup2(out, 1), dup2(out, 2);
  if (getenv("WEFT_SANITIZED") == NULL) limit(RLIMIT_AS, (rlim_t)4 << 30);
  limit(RLIMIT_FSIZE, (rlim_t)256 << 20);
  limit(RLIMIT_CORE, 0);
  alarm(SECONDS);
  execv(argv[0], argv);
  _exit(FOUND);
}

static void write_file(const char *path, const bytes *b) {
  FILE *out = fopen(path, "wb");
  if (out == NULL || fwrite(b->at, 1, b->length, out) != b->length || fclose(out) != 0) {
    perror(path);
    exit(1);
  }
}

static void report(mutator *m, const char *input, int status, char *const *argv) {
  char *kept = wf_format("failed%lu%s", m->failures++, strrchr(input, '.') == NULL ? "" : strrchr(input, '.'));
  rename(input, kept);
  rename("out.txt", wf_format("%s.out", kept));
  printf("FAILED: %s %d: %s:", WIFSIGNALED(status) ? "signal" : "exit code",
         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), kept);
  for (int i = 1; argv[i] != NULL; i++) printf(" %s", argv[i]);
  putchar('\n');
  fflush(stdout);
}

// The exit code for an input, or -1 after a failure was reported.
static int run(mutator *m, const reader *r, bytes b) {
  const bool is_text = strcmp(r->ending, "text") == 0;
  char *name = wf_format("input.%s", r->ending), *argv[WORDS_MAX] = {(char *)(uintptr_t)m->weft};
  write_file(name, &b);
  b.at = wf_realloc(b.at, b.length + 1, 1);
  b.at[b.length] = '\0';
  for (int i = 0; i < r->word_count; i++)
    argv[1 + i] = strcmp(r->words[i], "@") != 0 ? r->words[i] : is_text ? b.at : name;
  const pid_t pid = fork();
  if (pid == 0) run_child(argv);
  int status = 0;
  waitpid(pid, &status, 0);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code > EXIT_MAX && code != NO_MEMORY) code = -1;
  if (code < 0) report(m, name, status, argv);
  wf_free(b.at);
  wf_free(name);
  return code;
}

static void run_one(mutator *m) {
  const reader *r = &m->readers[next(m, (uint64_t)m->reader_count)];
  const int code = run(m, r, changed(m, r));
  m->runs++;
  if (code >= 0) (code == 0 ? m->accepted++ : m->refused++);
}

// A reader that takes none of the files that it begins with would be tested by its command line alone.
static bool take_seeds(mutator *m) {
  bool good = true;
  for (int i = 0; i < m->reader_count; i++) {
    const reader *r = &m->readers[i];
    int taken = 0;
    for (int n = 0; n < r->seed_count; n++) {
      const bytes *seed = &r->seeds[n];
      taken += run(m, r, (bytes){memcpy(wf_alloc(seed->length + 1, 1), seed->at, seed->length), seed->length}) == 0;
    }
    if (taken > 0) continue;
    good = false;
    printf("FAILED: reader %d takes none of its files:", i + 1);
    for (int w = 0; w < r->word_count; w++) printf(" %s", r->words[w]);
    putchar('\n');
  }
  return good;
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  mutator *m = WF_NEW(mutator);
  m->weft = argv[1];
  m->state = strtoull(argv[5], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  if (!read_list(m, argv[2])) return 1;
  mkdir(argv[3], 0777);
  if (chdir(argv[3]) != 0) return 1;
  setenv("ASAN_OPTIONS", "exitcode=99:hard_rss_limit_mb=4096:allocator_may_return_null=1:detect_leaks=0", 1);
  setenv("UBSAN_OPTIONS", "exitcode=99:halt_on_error=1", 1);
  if (!take_seeds(m)) return 1;
  for (long count = strtol(argv[4], NULL, 10); count > 0 && m->failures < FAILURES_MAX; count--) run_one(m);
  printf("%lu runs of %d readers: %lu accepted, %lu refused, %lu failed\n", m->runs, m->reader_count, m->accepted,
         m->refused, m->failures);
  return m->failures != 0 || m->runs == 0;
}
