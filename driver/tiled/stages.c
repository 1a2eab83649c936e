// SPDX-License-Identifier: Apache-2.0
// Tiles, stages and what they prepare: see stages.h.
#include "driver/tiled/stages.h"

// ---- what stays

static bool is_outer(const struct weft_tiles *t, bool a) { return a != t->n_outer; }
static bool stays(const struct weft_tiles *t, bool a) { return is_outer(t, a) ? t->outer_stays : t->inner_stays; }

static size_t up_to(size_t rows, size_t multiple) { return (rows + multiple - 1) / multiple * multiple; }

// Rows of an operand from `base` on, in slots or panels that take turns, each from a multiple of `align` on.
static size_t extent(const struct weft_tiles *t, bool a, size_t align, size_t *turn) {
  const size_t rows = a ? t->a_rows : t->b_rows, panel = rows * t->k;
  *turn = 0;
  if (!stays(t, a)) return (*turn = up_to(rows, align)) + rows;
  if (!is_outer(t, a)) return panel * (a ? t->m : t->n);
  if (!t->two_panels) return panel;
  return (*turn = up_to(panel, align)) + panel;
}

// Products read A in each cycle, B at the beginning of a block.
static bool lay_out(struct weft_tiles *t, size_t align) {
  t->b_base = up_to(extent(t, true, align, &t->a_turn), align);
  if (t->b_base + extent(t, false, align, &t->b_turn) <= WEFT_SP_ROWS) return true;
  return t->b_base + extent(t, false, 1, &t->b_turn) <= WEFT_SP_ROWS;
}

bool weft_tiles_place(struct weft_tiles *t) {
  const size_t outer = t->n_outer ? t->n : t->m;
  const bool turns = t->m * t->n > 1;
  t->c_turn = turns ? weft_max(t->c_rows, WEFT_ACC_ROWS / 2) : 0;
  t->ahead = t->c_turn + t->c_rows <= WEFT_ACC_ROWS;
  for (unsigned choice = 0; choice < 12 && t->ahead; choice++) {
    t->apart = choice < 6;
    t->inner_stays = choice % 2 == 0;
    t->outer_stays = choice % 6 < 4;
    t->two_panels = choice % 6 < 2 && outer > 1;
    if (t->outer_stays && !t->two_panels && outer > 1 && t->k == 1) continue;  // its only step is in use
    if (lay_out(t, t->apart ? WEFT_BANK_ROWS : 1)) return true;
  }
  t->ahead = t->two_panels = false;
  t->c_turn = t->a_turn = t->b_turn = 0;
  t->b_base = t->a_rows;
  return t->b_base + t->b_rows <= WEFT_SP_ROWS && t->c_rows <= WEFT_ACC_ROWS;
}

size_t weft_tiles_cost(const struct weft_tiles *t) {
  const size_t a_times = stays(t, true) ? 1 : t->n, b_times = stays(t, false) ? 1 : t->m;
  const size_t loaded = t->k * (t->a_rows * t->m * a_times + t->b_rows * t->n * b_times);
  const size_t burst = t->two_panels || !t->outer_stays ? 0 : t->k * (t->n_outer ? t->b_rows * t->n : t->a_rows * t->m);
  return (t->apart ? loaded / 2 : 2 * loaded) + burst + 4 * (t->a_rows + t->b_rows);
}

// ---- where things lie

// Changes of an operand's first row behind a step, and behind the last step of a tile with an inner one to come or not.
// Of one panel of an outer operand, each step follows the same step of the panel before, a stage or more after its last
// use; two take turns.
static void find_changes(const struct weft_tiles *t, bool a, struct weft_row_change change[WEFT_NEXTS]) {
  const uint32_t rows = (uint32_t)(a ? t->a_rows : t->b_rows), base = (uint32_t)(a ? 0 : t->b_base);
  const uint32_t turn = base ^ (base + (uint32_t)(a ? t->a_turn : t->b_turn)), first = rows - (uint32_t)t->k * rows;
  const bool outer = is_outer(t, a);
  const struct weft_row_change other = {UINT32_MAX, 0, turn};
  change[WEFT_NEXT_STEP] = change[WEFT_NEXT_INNER] = change[WEFT_NEXT_OUTER] = other;
  if (!t->ahead || !stays(t, a)) return;
  change[WEFT_NEXT_STEP] = (struct weft_row_change){UINT32_MAX, rows, 0};
  change[WEFT_NEXT_INNER] = (struct weft_row_change){UINT32_MAX, outer ? first : rows, 0};
  change[WEFT_NEXT_OUTER] =
      outer ? (struct weft_row_change){UINT32_MAX, first, turn} : (struct weft_row_change){0, base, 0};
}

static inline uint32_t changed(uint32_t row, const struct weft_row_change *change) {
  return ((row & change->mask) + change->add) ^ change->turn;
}

// ---- chores

enum {
  STORE = 1 << WEFT_CHORE_STORE,
  LOAD_A = 1 << WEFT_CHORE_A,
  LOAD_B = 1 << WEFT_CHORE_B,
  LOAD_BIAS = 1 << WEFT_CHORE_BIAS,
  LOAD_PANEL = 1 << WEFT_CHORE_PANEL,
  WORKS = 6,  // steps that are none of a transfer: one more for each transfer
};

static struct weft_stages *stages_of(struct weft_feed *feed) { return (struct weft_stages *)(void *)feed; }

static size_t part_of(size_t all, size_t parts, size_t part, size_t *first) {
  const size_t each = (all + parts - 1) / parts;
  *first = weft_min(each * part, all);
  return weft_min(each, all - *first);
}

// What comes of a panel's step under one tile of the panel before: some planes, or rows.
static void take_part(struct weft_transfer *t, size_t parts, size_t part) {
  size_t first;
  if (t->planes > 1) {
    t->planes = part_of(t->planes, parts, part, &first);
    t->local += (uint32_t)first * t->plane_step;
    if (t->memory != 0) t->memory += first * t->plane_bytes;
    return;
  }
  const size_t commands = part_of((t->rows + t->height - 1) / t->height, parts, part, &first);
  t->local += (uint32_t)first * t->row_step;
  first *= t->height;
  if (t->memory != 0) t->memory += first * t->row_bytes;
  t->rows = weft_min(t->rows - weft_min(first, t->rows), commands * t->height);
}

static bool panel_transfer(struct weft_stages *s, struct weft_transfer *t) {
  const struct weft_tile *tile = s->now->tile;
  if (!s->op->transfer(s, s->tiles.n_outer ? WEFT_CHORE_B : WEFT_CHORE_A, s->number++, &s->panel, t)) return false;
  take_part(t, s->tiles.n_outer ? s->tiles.m : s->tiles.n, s->tiles.n_outer ? tile->m : tile->n);
  return true;
}

static void ask(struct weft_feed *feed);
static void begin_transfer(struct weft_feed *feed) {
  struct weft_stages *s = stages_of(feed);
  feed->work = ask;
  weft_feed_begin(feed, &s->transfers[s->chore]);
}

// The next transfer of the first chore left, which is done when there is none.
static void ask(struct weft_feed *feed) {
  struct weft_stages *s = stages_of(feed);
  if (s->chores == 0) {
    feed->work = NULL;
    return;
  }
  unsigned chore = 0;
  while ((s->chores >> chore & 1) == 0) chore++;
  struct weft_transfer *t = &s->transfers[chore];
  const struct weft_stage *stage = chore == WEFT_CHORE_STORE ? s->stored : s->next;
  s->chore = (enum weft_chore)chore;
  feed->work = begin_transfer;
  if (chore == WEFT_CHORE_PANEL ? panel_transfer(s, t)
                                : s->op->transfer(s, (enum weft_chore)chore, s->number++, stage, t))
    return;
  feed->work = ask;
  s->chores &= s->chores - 1;
  s->number = 0;
}

static void finish_stage(struct weft_feed *feed) {
  struct weft_stages *s = stages_of(feed);
  feed->work = ask;
  feed->rate = s->steps[s->chores];
  s->op->measure(s, s->next);
}

// What stays comes with the first tile that needs it, and a panel but the first under the one before.
static bool comes(const struct weft_stages *s, const struct weft_tile *tile, bool a) {
  if (!s->tiles.ahead) return true;
  const size_t other = a ? tile->n : tile->m, own = a ? tile->m : tile->n;
  return !stays(&s->tiles, a) || (other == 0 && (own == 0 || !is_outer(&s->tiles, a) || !s->tiles.two_panels));
}

static void measure_tile(struct weft_stages *s, struct weft_tile *tile) {
  tile->loads = (comes(s, tile, true) ? LOAD_A : 0) | (comes(s, tile, false) ? LOAD_B : 0);
  s->op->measure_tile(s, tile);
}

static void finish_tile(struct weft_feed *feed) {
  struct weft_stages *s = stages_of(feed);
  measure_tile(s, s->next->tile);
  s->chores += s->next->tile->loads + (s->has_bias ? LOAD_BIAS : 0);
  feed->work = finish_stage;
}

// The tile behind; false: there is none.
static bool advance_tile(struct weft_stages *s, struct weft_tile *tile) {
  const struct weft_tiles *t = &s->tiles;
  const struct weft_tile *before = s->now->tile;
  size_t *outer = t->n_outer ? &tile->n : &tile->m, *inner = t->n_outer ? &tile->m : &tile->n;
  unsigned change = WEFT_NEXT_INNER;
  tile->m = before->m, tile->n = before->n;
  tile->number = before->number + 1;
  tile->c = before->c ^ (uint32_t)t->c_turn;
  if (++*inner == (t->n_outer ? t->m : t->n)) {
    *inner = 0;
    change = WEFT_NEXT_OUTER;
    if (++*outer == (t->n_outer ? t->n : t->m)) return false;
  }
  s->next->tile = tile;
  s->next->k = 0;
  s->next->a = changed(s->now->a, &s->a_change[change]);
  s->next->b = changed(s->now->b, &s->b_change[change]);
  return true;
}

static void next_tile(struct weft_feed *feed) {
  struct weft_stages *s = stages_of(feed);
  struct weft_tile *tile = s->now->tile;
  s->more = advance_tile(s, tile == &s->tile_ring[2] ? s->tile_ring : tile + 1);
  s->chores |= s->tiles.ahead ? 0 : STORE;
  feed->work = s->more ? finish_tile : ask;
  feed->rate = s->steps[s->chores];
}

// ---- panels

// What comes of the next panel under a stage: of the step with the same number the part of the same number as the tile.
static void find_panel_step(struct weft_stages *s, const struct weft_stage *now) {
  const struct weft_tiles *t = &s->tiles;
  const struct weft_tile *tile = now->tile;
  const size_t turn = t->n_outer ? t->b_turn : t->a_turn, base = t->n_outer ? t->b_base : 0;
  const uint32_t row = t->n_outer ? now->b : now->a;
  if (now->k == 0 && (t->n_outer ? tile->m : tile->n) == 0) {
    s->panel_tile.m = t->n_outer ? tile->m : tile->m + 1;
    s->panel_tile.n = t->n_outer ? tile->n + 1 : tile->n;
    s->has_panel = t->n_outer ? s->panel_tile.n < t->n : s->panel_tile.m < t->m;
    if (s->has_panel) s->op->measure_tile(s, &s->panel_tile);
  }
  if (!s->has_panel) return;
  s->panel.tile = &s->panel_tile;
  s->panel.k = now->k;
  s->panel.k_first = now->k_first;
  s->panel.k_size = now->k_size;
  s->panel.a = s->panel.b = row < base + turn ? row + (uint32_t)turn : row - (uint32_t)turn;
  s->chores |= LOAD_PANEL;
}

// The work of a stage begins.
static void advance(struct weft_feed *feed) {
  struct weft_stages *s = stages_of(feed);
  struct weft_stage *next = s->next;
  const struct weft_stage *now = s->now;
  const size_t k = now->k + 1;
  s->chores = now->k == 0 && now->tile->number != 0 && s->tiles.ahead ? STORE : 0;
  if (s->tiles.two_panels) find_panel_step(s, now);
  feed->work = next_tile;
  if (k == s->tiles.k) return;
  feed->work = finish_stage;
  next->k = k;
  next->tile = now->tile;
  next->a = changed(now->a, &s->a_change[WEFT_NEXT_STEP]);
  next->b = changed(now->b, &s->b_change[WEFT_NEXT_STEP]);
  s->chores |= now->tile->loads;
}

// ---- the whole

static void add_steps(struct weft_stages *s, enum weft_chore chore, size_t steps) {
  for (unsigned set = 0; set < WEFT_CHORE_SETS; set++)
    if ((set >> chore & 1) != 0) s->steps[set] += (ptrdiff_t)steps;
}

// Steps of all sets of chores, with those of the first tile, which is as large as any.
static void foresee_steps(struct weft_stages *s) {
  for (unsigned set = 0; set < WEFT_CHORE_SETS; set++) s->steps[set] = WORKS;
  for (unsigned chore = 0; chore < WEFT_CHORES; chore++) {
    size_t steps = 0;
    if (chore == WEFT_CHORE_PANEL || (chore == WEFT_CHORE_BIAS && !s->has_bias)) continue;
    for (unsigned n = 0; s->op->transfer(s, (enum weft_chore)chore, n, s->next, &s->transfers[chore]); n++)
      steps += weft_feed_steps(&s->transfers[chore]) + 2;
    add_steps(s, (enum weft_chore)chore, steps);
    if (chore == (s->tiles.n_outer ? WEFT_CHORE_B : WEFT_CHORE_A))
      add_steps(s, WEFT_CHORE_PANEL, steps / (s->tiles.n_outer ? s->tiles.m : s->tiles.n) + 3);
  }
}

static void give(struct weft_stages *s, unsigned chores) {
  s->chores = chores;
  s->feed.work = ask;
  weft_feed_drain(&s->feed);
}

static void start(struct weft_stages *s) {
  s->now = &s->ring[2];
  s->stored = &s->ring[1];
  s->next = &s->ring[0];
  s->next->tile = &s->tile_ring[0];
  s->next->b = (uint32_t)s->tiles.b_base;
  find_changes(&s->tiles, true, s->a_change);
  find_changes(&s->tiles, false, s->b_change);
  measure_tile(s, s->next->tile);
  s->op->measure(s, s->next);
  foresee_steps(s);
  s->transfers[WEFT_CHORE_PANEL] = s->transfers[s->tiles.n_outer ? WEFT_CHORE_B : WEFT_CHORE_A];
  give(s, s->next->tile->loads | (s->has_bias ? LOAD_BIAS : 0));
}

static void begin(struct weft_stages *s) {
  const bool ahead = s->tiles.ahead;
  struct weft_stage *const before = s->now, *const now = s->next;
  s->now = now;
  s->next = ahead ? s->stored : before;
  s->stored = ahead ? before : now;
  s->feed.work = advance;
  s->feed.period = (ptrdiff_t)now->products;
  s->feed.debt = -s->feed.period;
  s->feed.rate = ahead ? s->feed.period / 8 + 1 : 0;
  s->products.row = now->rows;
  s->op->begin(s, now);
}

bool weft_stages_next(struct weft_stages *s) {
  if (s->feed.work != NULL || s->feed.left != 0) weft_feed_drain(&s->feed);
  if (s->more) begin(s);
  return s->more;
}

void weft_stages_run(struct weft_stages *s) {
  s->more = true;
  start(s);
  begin(s);
  weft_multiply(&s->feed, &s->products);
  if (!s->tiles.ahead) return;
  s->stored = s->now;
  give(s, STORE);
}
