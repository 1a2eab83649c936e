// SPDX-License-Identifier: Apache-2.0
// Shrinking: drop runs of items, long ones first, as long as the rest is well defined and the engines still disagree.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sim/gen/judge.h"
#include "sim/tests/cosim/cosim.h"

enum { MOST_TRIALS = 4000, LONGEST_GROUP = 9 };

typedef struct shrinker {
  const cosim_setup *setup;
  sim_gen_program *best;
  char *text;  // of the best
  unsigned trials;
} shrinker;

// Takes the candidate over if it still fails; frees it if not.
static bool try_program(shrinker *s, sim_gen_program *candidate) {
  char why[GEN_WHY], text[COSIM_TEXT];
  bool better = sim_gen_judge_program(candidate, why);
  if (better) {
    s->trials++;
    better = !cosim_agree(s->setup, candidate, NULL, text);
  }
  if (better) {
    sim_gen_program_destroy(s->best);
    s->best = candidate;
    memcpy(s->text, text, COSIM_TEXT);
  } else {
    sim_gen_program_destroy(candidate);
  }
  return better;
}

static bool drop(shrinker *s, size_t first, size_t count) {
  bool *kept = WF_NEW_ARRAY(s->best->count, bool);
  for (size_t i = 0; i < s->best->count; i++) kept[i] = i < first || i >= first + count;
  sim_gen_program *candidate = sim_gen_program_copy(s->best, kept);
  wf_free(kept);
  return try_program(s, candidate);
}

// One pass over the program with runs of one length, `step` apart; true if anything went.
static bool pass(shrinker *s, size_t length, size_t step) {
  bool progress = false;
  for (size_t at = s->best->count; at > 0 && s->trials < MOST_TRIALS;) {
    size_t first = at > length ? at - length : 0, next = at > step ? at - step : 0;
    bool gone = drop(s, first, at - first);
    progress |= gone;
    at = gone ? first : next;
    if (at > s->best->count) at = s->best->count;
  }
  return progress;
}

static void drop_delays(shrinker *s) {
  sim_gen_program *candidate = sim_gen_program_copy(s->best, NULL);
  for (size_t i = 0; i < candidate->count; i++) candidate->items[i].delay = 0;
  try_program(s, candidate);
}

static void pad_with_zeros(shrinker *s) {
  sim_gen_program *candidate = sim_gen_program_copy(s->best, NULL);
  memset(candidate->image, 0, candidate->image_bytes);
  if (try_program(s, candidate)) return;
  candidate = sim_gen_program_copy(s->best, NULL);
  for (size_t i = 0; i < candidate->image_bytes; i++) candidate->image[i] = (uint8_t)(1 + i % 61);
  try_program(s, candidate);
}

static void drop_setup(cosim_setup *setup, const sim_gen_program *program, char text[COSIM_TEXT]) {
  setup->memo = NULL;
  cosim_setup plain = *setup;
  char told[COSIM_TEXT];
  plain.disturb = plain.garbage = 0;
  if ((setup->disturb == 0 && setup->garbage == 0) || cosim_agree(&plain, program, NULL, told)) return;
  *setup = plain;
  memcpy(text, told, COSIM_TEXT);
}

// Failing trials may print, one like the other.
static int silence(void) {
  int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  if (nowhere >= 0) close(nowhere);
  return kept;
}

static void unsilence(int kept) {
  if (kept >= 0) dup2(kept, STDERR_FILENO);
  if (kept >= 0) close(kept);
}

static sim_gen_program *shrink(cosim_setup *setup, const sim_gen_program *program, char text[COSIM_TEXT]) {
  drop_setup(setup, program, text);
  shrinker s = {.setup = setup, .best = sim_gen_program_copy(program, NULL), .text = text};
  drop_delays(&s);
  for (size_t length = s.best->count / 2; length > 4; length /= 2) pass(&s, length, length);
  // Short runs until nothing goes, first side by side, then at every place: a preload and its compute only go together,
  // a chain of four pairs with its configuration.
  for (int everywhere = 0; everywhere < 2; everywhere++) {
    bool progress = true;
    while (progress && s.trials < MOST_TRIALS) {
      progress = false;
      for (size_t length = LONGEST_GROUP; length > 0; length--)
        progress |= pass(&s, length, everywhere != 0 ? 1 : length);
    }
  }
  pad_with_zeros(&s);
  return s.best;
}

sim_gen_program *cosim_shrink(cosim_setup *setup, const sim_gen_program *program, char text[COSIM_TEXT]) {
  fflush(stderr);
  int kept = silence();
  sim_gen_program *small = shrink(setup, program, text);
  fflush(stderr);
  unsilence(kept);
  return small;
}
