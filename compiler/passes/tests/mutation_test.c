// SPDX-License-Identifier: Apache-2.0
// Random programs with random changes: lines removed, repeated, exchanged, names and numbers replaced. What
// block_verify accepts and a pass does not refuse must keep its results; most such programs are no kernel that a person
// would write.
#include <ctype.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/block/build.h"
#include "compiler/block/random.h"
#include "compiler/passes/passes.h"

enum { TRIALS = 15000, LINES_MAX = 80, LINE_MAX = 400, FUSED_MIN = 1000, TILED_MIN = 1000 };

typedef struct text {
  char line[LINES_MAX][LINE_MAX];
  int count, first;  // the first statement
} text;

static uint64_t next(uint64_t *seed) {
  *seed ^= *seed >> 12;
  *seed ^= *seed << 25;
  *seed ^= *seed >> 27;
  return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static int below(uint64_t *seed, int count) { return (int)((next(seed) >> 33) % (uint64_t)count); }

static void cut(const char *from, text *t) {
  *t = (text){.first = -1};
  while (*from != '\0') {
    size_t length = strcspn(from, "\n");
    assert_true(t->count < LINES_MAX && length < LINE_MAX);
    memcpy(t->line[t->count], from, length);
    bool declaration = strncmp(from, "program", 7) == 0 || strncmp(from, "tensor", 6) == 0 ||
                       strncmp(from, "loop", 4) == 0 || strncmp(from, "buffer", 6) == 0;
    if (!declaration && t->first < 0) t->first = t->count;
    t->count++;
    from += length + (from[length] != '\0');
  }
}

static char *paste(const text *t) {
  char *result = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&result, &length);
  for (int l = 0; l < t->count; l++) fprintf(out, "%s\n", t->line[l]);
  fclose(out);
  return result;
}

// ---- changes

static void exchange(text *t, int a, int b) {
  char kept[LINE_MAX];
  memcpy(kept, t->line[a], LINE_MAX);
  memcpy(t->line[a], t->line[b], LINE_MAX);
  memcpy(t->line[b], kept, LINE_MAX);
}

static void repeat(text *t, int line, int at) {
  if (t->count == LINES_MAX) return;
  char kept[LINE_MAX];
  memcpy(kept, t->line[line], LINE_MAX);
  memmove(t->line[at + 1], t->line[at], (size_t)(t->count - at) * LINE_MAX);
  memcpy(t->line[at], kept, LINE_MAX);
  t->count++;
}

// Replaces a word of a line by one of the same kind.
static void replace_word(text *t, int line, uint64_t *seed) {
  static const char *const numbers[] = {"0", "1", "2", "3", "-128", "127", "0.5", "-1", "100"};
  static const char *const buffers[] = {"acc", "t", "acc2", "v", "r32", "wide_bias", "r8", "y8", "f", "at", "xt", "0"};
  static const char *const ops[] = {"add", "max", "min", "sub", "copy", "to_i8", "to_i32", "scale", "mul"};
  char *at = t->line[line];
  char *start = at + below(seed, (int)strlen(at) + 1);
  while (start > at && (isalnum((unsigned char)start[-1]) || start[-1] == '_')) start--;
  size_t length = 0;
  while (isalnum((unsigned char)start[length]) || start[length] == '_') length++;
  const char *by = isdigit((unsigned char)*start) ? numbers[below(seed, 9)]
                   : start == at                  ? ops[below(seed, 9)]
                                                  : buffers[below(seed, 12)];
  char *replaced = wf_format("%.*s%s%s", (int)(start - at), at, by, start + length);
  if (strlen(replaced) < LINE_MAX) memcpy(at, replaced, strlen(replaced) + 1);
  wf_free(replaced);
}

static void mutate(text *t, uint64_t *seed) {
  int statements = t->count - t->first;
  if (statements < 2) return;
  int a = t->first + below(seed, statements), b = t->first + below(seed, statements);
  switch (below(seed, 6)) {
    case 0:
      memmove(t->line[a], t->line[a + 1], (size_t)(t->count - a - 1) * LINE_MAX);
      t->count--;
      break;
    case 1:
      exchange(t, a, b);
      break;
    case 2:
      repeat(t, a, b);
      break;
    case 3:
      exchange(t, a, a + 1 < t->count ? a + 1 : a - 1);
      break;
    default:
      replace_word(t, a, seed);
  }
}

// ---- results

static void **results(const block_program *program, uint64_t seed, bool *ran) {
  wf_diag silent = wf_diag_to(NULL);
  void **tensors = block_random_tensors(program, seed);
  *ran = block_run(program, tensors, &silent);
  return tensors;
}

static void same_results(const block_program *program, void **expected, uint64_t seed, const char *original,
                         const char *what) {
  wf_diag diag = wf_diag_to(stderr);
  bool ran, verified = block_verify(program, &diag);
  void **tensors = results(program, seed, &ran);
  bool same = ran && verified;
  for (int t = 0; same && t < program->tensor_count; t++)
    same = memcmp(tensors[t], expected[t],
                  (size_t)program->tensors[t].elements * block_type_bytes(program->tensors[t].type)) == 0;
  if (!same) {
    block_print(program, stderr);
    fail_msg("%s changed the results of:\n%s", what, original);
  }
  block_random_free(tensors);
}

// Every loop over a dimension outside of the sums and these in the opposite order, split in two where they can be.
static map_mapping other_order(const block_program *program) {
  map_mapping m = {.outer = {3, 2, 1, 0, 6, 5, 4}, .inner = {3, 2, 1, 0, 6, 5, 4}};
  for (int d = 0; d < BLOCK_DIMS; d++) m.tile[d] = m.sp[d] = m.dram[d] = 1;
  for (int l = 0; l < program->loop_count; l++)
    if (program->loops[l].dim < BLOCK_DIMS) m.dram[program->loops[l].dim] = program->loops[l].trips;
  for (int d = BLOCK_DIM_C; d < BLOCK_DIMS; d++) {
    m.sp[d] = m.dram[d] > 1 ? 2 : 1;
    m.dram[d] = (m.dram[d] + m.sp[d] - 1) / m.sp[d];
  }
  return m;
}

typedef struct tally {
  int verified, fused, tiled;
} tally;

static void try_program(const char *source, uint64_t seed, tally *count) {
  wf_diag silent = wf_diag_to(NULL);
  block_program *program = block_parse("mutant", source, strlen(source), &silent);
  bool ran = program != NULL && block_verify(program, &silent);
  void **expected = ran ? results(program, seed, &ran) : NULL;
  if (expected != NULL && !ran) fail_msg("verified, but does not run:\n%s", source);
  if (ran) count->verified++;
  if (ran) {
    block_program *tiled = block_copy(program);
    const map_mapping mapping = other_order(program);
    if (pass_tile(tiled, &mapping, NULL, &silent)) same_results(tiled, expected, seed, source, "tile"), count->tiled++;
    block_destroy(tiled);
  }
  if (ran && pass_fuse(program, NULL, NULL, &silent)) {
    count->fused++;
    same_results(program, expected, seed, source, "fuse");
    const map_mapping mapping = other_order(program);
    if (pass_tile(program, &mapping, NULL, &silent)) same_results(program, expected, seed, source, "fuse and tile");
  }
  if (expected != NULL) block_random_free(expected);
  block_destroy(program);
}

// The text of a program, fused if asked for.
static char *source_of(uint64_t *seed, const block_random_options *options, bool fused) {
  char *written = block_random_text(seed, options);
  if (!fused) return written;
  wf_diag diag = wf_diag_to(stderr);
  block_program *program = block_parse("random", written, strlen(written), &diag);
  assert_true(program != NULL && pass_fuse(program, NULL, NULL, &diag));
  char *printed = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&printed, &length);
  block_print(program, out);
  fclose(out);
  block_destroy(program);
  free(written);
  return printed;
}

static void mutants_keep_their_results(void **state) {
  (void)state;
  tally count = {0};
  for (uint64_t trial = 1; trial <= TRIALS; trial++) {
    uint64_t seed = trial * UINT64_C(0x9e3779b97f4a7c15);
    const block_random_options options = {.kind = BLOCK_RANDOM_KINDS, .dim = 1 + (int64_t)(trial % 2), .size_max = 6};
    char *original = source_of(&seed, &options, trial % 3 == 0);
    text t;
    cut(original, &t);
    for (int changes = 1 + below(&seed, 3); changes > 0; changes--) mutate(&t, &seed);
    char *source = paste(&t);
    try_program(source, trial, &count);
    free(source);
    free(original);
  }
  print_message("%d programs, %d well formed, %d tiled, %d fused\n", (int)TRIALS, count.verified, count.tiled,
                count.fused);
  assert_true(count.fused >= FUSED_MIN && count.tiled >= TILED_MIN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mutants_keep_their_results),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
