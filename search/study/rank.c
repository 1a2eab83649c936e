// SPDX-License-Identifier: Apache-2.0
// What follows from the rows of a study: means, kinds of compression against each other, rankings. See rows.h.
#include <math.h>

#include "search/study/rows.h"

const char *const study_axis_names[STUDY_AXIS_COUNT] = {
#define X(NAME, name) name,
    STUDY_AXES(X)
#undef X
};

// ---- spreads

void study_spread_add(study_spread *s, double value) {
  s->least = s->count == 0 ? value : fmin(s->least, value);
  s->most = s->count == 0 ? value : fmax(s->most, value);
  s->sum += value;
  s->logs += log(value);
  s->count++;
}

double study_mean(const study_spread *s) { return s->count == 0 ? 0 : s->sum / (double)s->count; }
double study_geomean(const study_spread *s) { return s->count == 0 ? 0 : exp(s->logs / (double)s->count); }

// ---- compressions

static void add_row(study_summary *s, const study_rows *rows, const study_row *row) {
  const study_row *first = study_row_at(rows, row->network, row->point, row->compression, row->lowering, 0);
  if (!row->has_speedup) {
    s->failed++;
    return;
  }
  study_spread_add(&s->expected, row->expected);
  study_spread_add(&s->achieved, row->achieved);
  study_spread_add(&s->share, row->share);
  study_spread_add(&s->roof, row->roof / row->time);
  if (first->good) study_spread_add(&s->mapped, first->time / row->time);
  s->time += row->time;
  for (int b = 0; b < STUDY_BOUND_COUNT; b++) s->by[b] += row->by[b];
}

study_summary study_summarise(const study_rows *rows, size_t compression, size_t mapping) {
  study_summary s = {0};
  for (size_t i = 0; i < rows->count; i++)
    if (rows->row[i].compression == compression && rows->row[i].mapping == mapping) add_row(&s, rows, &rows->row[i]);
  return s;
}

// ---- kinds of compression

// What a row's time is compared by; NAN: it takes no part.
typedef double time_of(const study_rows *rows, const study_row *row);

static const study_compression *compression_of(const study_rows *rows, const study_row *row) {
  return &rows->spec->compressions[row->compression];
}

static double channel_time(const study_rows *rows, const study_row *row) {
  return compression_of(rows, row)->kind == STUDY_CHANNEL ? row->time : NAN;
}

static double weight_time(const study_rows *rows, const study_row *row) {
  return compression_of(rows, row)->kind == STUDY_WEIGHT ? row->time : NAN;
}

static double uniform_time(const study_rows *rows, const study_row *row) {
  return compression_of(rows, row)->pattern == STUDY_UNIFORM ? weight_time(rows, row) / row->left_out : NAN;
}

static double block_time(const study_rows *rows, const study_row *row) {
  return compression_of(rows, row)->pattern == STUDY_BLOCK ? weight_time(rows, row) / row->left_out : NAN;
}

// Of all compressions of a row; NAN: none takes part.
static double fastest(const study_rows *rows, const study_row *like, time_of *time) {
  double best = NAN;
  for (size_t c = 0; c < rows->spec->compression_count; c++) {
    const study_row *row = study_row_at(rows, like->network, like->point, c, like->lowering, like->mapping);
    if (row->has_speedup) best = fmin(best, time(rows, row));
  }
  return best;
}

static void fight(const study_rows *rows, const study_row *like, time_of *time, size_t *pairs, size_t *wins) {
  const double channel = fastest(rows, like, channel_time), weight = fastest(rows, like, time);
  if (isnan(channel) || isnan(weight)) return;
  (*pairs)++;
  *wins += channel < weight * (1 - STUDY_TIE);
}

static void fight_all(study_duel *d, const study_rows *rows, const study_row *like) {
  static time_of *const times[STUDY_PATTERNS] = {uniform_time, block_time};
  fight(rows, like, weight_time, &d->pairs, &d->wins);
  for (int p = 0; p < STUDY_PATTERNS; p++) fight(rows, like, times[p], &d->left_out_pairs[p], &d->left_out_wins[p]);
}

study_duel study_compare(const study_rows *rows, size_t mapping) {
  study_duel d = {0};
  for (size_t i = 0; i < rows->count; i++) {
    const study_row *row = &rows->row[i];
    if (row->mapping != mapping) continue;
    if (row->has_speedup) study_spread_add(&d.share[compression_of(rows, row)->kind], row->share);
    if (row->compression == 0) fight_all(&d, rows, row);
  }
  return d;
}

// ---- rankings

// Row `at` of the ranking that a row is the first of.
static const study_row *ranked(const study_rows *rows, const study_row *first, study_axis axis, size_t at,
                               size_t mapping) {
  return study_row_at(rows, first->network, axis == STUDY_RANK_ARRAYS ? at : first->point,
                      axis == STUDY_RANK_COMPRESSIONS ? at : first->compression,
                      axis == STUDY_RANK_LOWERINGS ? at : first->lowering, mapping);
}

static size_t length_of(const study_rows *rows, study_axis axis) {
  const size_t lengths[STUDY_AXIS_COUNT] = {
      [STUDY_RANK_ARRAYS] = rows->points,
      [STUDY_RANK_COMPRESSIONS] = rows->spec->compression_count,
      [STUDY_RANK_LOWERINGS] = rows->spec->lowering_count,
  };
  return lengths[axis];
}

static bool is_first(const study_row *row, study_axis axis) {
  const size_t places[STUDY_AXIS_COUNT] = {[STUDY_RANK_ARRAYS] = row->point,
                                           [STUDY_RANK_COMPRESSIONS] = row->compression,
                                           [STUDY_RANK_LOWERINGS] = row->lowering};
  return row->mapping == 0 && places[axis] == 0;
}

// Pruned weights take what the whole network takes: they are no rank of their own.
static bool has_rank(const study_rows *rows, const study_row *row) {
  return row->good && rows->spec->compressions[row->compression].kind != STUDY_WEIGHT;
}

static void add_pair(study_ranking *r, double before, double after) {
  const double tie = 1 + STUDY_TIE, least = fmin(fmax(before, 1 / before), fmax(after, 1 / after));
  if (least < tie) return;
  r->pairs++;
  if ((before > 1) == (after > 1)) return;
  r->turned++;
  r->most = fmax(r->most, least);
}

static void rank_pairs(study_ranking *r, const study_rows *rows, const study_row *first, study_axis axis,
                       size_t mapping) {
  for (size_t a = 0; a < length_of(rows, axis); a++) {
    const study_row *was_a = ranked(rows, first, axis, a, 0), *is_a = ranked(rows, first, axis, a, mapping);
    for (size_t b = a + 1; b < length_of(rows, axis); b++) {
      const study_row *was_b = ranked(rows, first, axis, b, 0), *is_b = ranked(rows, first, axis, b, mapping);
      if (has_rank(rows, was_a) && has_rank(rows, is_a) && has_rank(rows, was_b) && has_rank(rows, is_b))
        add_pair(r, was_a->time / was_b->time, is_a->time / is_b->time);
    }
  }
}

static size_t winner(const study_rows *rows, const study_row *first, study_axis axis, size_t mapping) {
  size_t best = SIZE_MAX;
  for (size_t at = 0; at < length_of(rows, axis); at++) {
    const study_row *row = ranked(rows, first, axis, at, mapping);
    if (!has_rank(rows, row)) continue;
    if (best == SIZE_MAX || row->time < ranked(rows, first, axis, best, mapping)->time) best = at;
  }
  return best;
}

// Whether the fastest row of before is slower now, by more than a tie.
static bool has_new_winner(const study_rows *rows, const study_row *first, study_axis axis, size_t mapping) {
  const size_t was = winner(rows, first, axis, 0), is = winner(rows, first, axis, mapping);
  if (was == is || was == SIZE_MAX || is == SIZE_MAX) return false;
  const study_row *old = ranked(rows, first, axis, was, mapping), *new = ranked(rows, first, axis, is, mapping);
  return old->good && old->time > new->time *(1 + STUDY_TIE);
}

study_ranking study_rank(const study_rows *rows, study_axis axis, size_t mapping) {
  study_ranking r = {0};
  for (size_t i = 0; i < rows->count; i++) {
    const study_row *row = &rows->row[i];
    if (!is_first(row, axis) || rows->spec->compressions[row->compression].kind == STUDY_WEIGHT) continue;
    rank_pairs(&r, rows, row, axis, mapping);
    r.rankings++;
    r.winners += has_new_winner(rows, row, axis, mapping);
  }
  return r;
}
