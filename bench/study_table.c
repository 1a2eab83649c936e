// SPDX-License-Identifier: Apache-2.0
// Prints a study: the whole matrix, then its means, kinds of compression against each other, and rankings. The matrix
// has no winners: failures and losses stand in it.
#include "bench/study_table.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "runner/fidelity.h"

// ---- the matrix

static const bench_column row_columns[] = {
    {.title = "network", BENCH_DATA("network"), .width = -14},
    {.title = "array", BENCH_DATA("array"), .width = -16},
    {.title = "compression", BENCH_DATA("compression"), .width = -18},
    {.title = "lowering", BENCH_DATA("lowering"), .width = -8},
    {.title = "mapping", BENCH_DATA("mapping"), .width = -10},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 13},
    {.title = "copies", BENCH_DATA("copy_cycles"), .width = 10},
    {.title = "expected", BENCH_DATA("expected"), .width = 8, .text_format = "%.2f"},
    {.title = "achieved", BENCH_DATA("achieved"), .width = 8, .text_format = "%.2f", .none = "-"},
    {.title = "share %", BENCH_DATA("share"), .width = 7, .text_format = "%.1f", .scale = 100, .none = "-"},
    {.title = "of roof %", BENCH_DATA("of_roof"), .width = 9, .text_format = "%.1f", .scale = 100},
    {.title = "array %", BENCH_DATA("by_array"), .width = 7, .text_format = "%.0f", .scale = 100},
    {.title = "edges", BENCH_DATA("by_edges"), .width = 5, .text_format = "%.0f", .scale = 100},
    {.title = "memory", BENCH_DATA("by_memory"), .width = 6, .text_format = "%.0f", .scale = 100},
    {.title = "waits", BENCH_DATA("by_waits"), .width = 5, .text_format = "%.0f", .scale = 100},
    {.title = "binds", BENCH_DATA("binds"), .width = -6},
    {.title = "left out", BENCH_DATA("blocks_left_out"), .width = 8, .text_format = "%.2f"},
    {BENCH_DATA("side")},
    {BENCH_DATA("macs")},
    {BENCH_DATA("roof_cycles")},
    {BENCH_DATA("mesh_cycles")},
    {BENCH_DATA("bytes")},
    {BENCH_DATA("engine")},
    {BENCH_DATA("status")},
    {BENCH_DATA("reason")},
};
static const bench_form row_form = {.list = "rows", BENCH_FORM(row_columns)};

static bench_cell part(const study_row *row, study_bound bound) {
  return bench_if(row->good, bench_real(row->by[bound] / row->time));
}

static char *remark_of(const study_rows *rows, const study_row *row, const char *mapping) {
  const study_spec *spec = rows->spec;
  return wf_format("%s, %s, %s, %s: %s%s%s", row->array, spec->compressions[row->compression].name,
                   study_lowering_names[spec->lowerings[row->lowering]], mapping, row->status,
                   row->reason[0] == '\0' ? "" : ": ", row->reason);
}

static void add_row(bench_table *table, const study_rows *rows, const study_row *row) {
  const study_spec *spec = rows->spec;
  const sweep_policy_text policy = study_policy(spec, row->mapping);
  const bool pruned = spec->compressions[row->compression].kind == STUDY_WEIGHT;
  char *remark = row->good ? NULL : remark_of(rows, row, policy.text);
  bench_table_add(
      table, remark,
      BENCH_CELLS(
          bench_text(spec->networks[row->network].name), bench_text(row->array),
          bench_text(spec->compressions[row->compression].name),
          bench_text(study_lowering_names[spec->lowerings[row->lowering]]), bench_text(policy.text),
          bench_if(row->good, bench_real(row->cycles)), bench_if(row->good && row->copy > 0, bench_real(row->copy)),
          bench_real(row->expected), bench_if(row->has_speedup, bench_real(row->achieved)),
          bench_if(row->has_speedup, bench_real(row->share)), bench_if(row->good, bench_real(row->roof / row->time)),
          part(row, STUDY_BY_ARRAY), part(row, STUDY_BY_EDGES), part(row, STUDY_BY_MEMORY), part(row, STUDY_BY_WAITS),
          bench_if(row->good, bench_text(study_bound_names[row->binds])), bench_if(pruned, bench_real(row->left_out)),
          bench_count(row->side), bench_real(row->macs), bench_if(row->good, bench_real(row->roof)),
          bench_if(row->good, bench_real(row->mesh)), bench_if(row->good, bench_real(row->bytes)),
          bench_text(run_fidelity_names[spec->base.fidelity]), bench_text(row->status), bench_text(row->reason)));
  wf_free(remark);
}

static void print_rows(bench_report *report, const study_rows *rows) {
  bench_table *table = bench_table_open(report, &row_form);
  bench_table_heading(table);
  for (size_t i = 0; i < rows->count; i++) add_row(table, rows, &rows->row[i]);
}

// ---- means

static const bench_column mean_columns[] = {
    {.title = "compression", .key = "compression", .width = -18},
    {.title = "mapping", .key = "mapping", .width = -18},
    {.title = "rows", .key = "rows", .width = 5},
    {.title = "failed", .key = "failed", .width = 6},
    {.title = "expected", .key = "expected", .width = 8, .text_format = "%.2f"},
    {.title = "achieved", .key = "achieved", .width = 8, .text_format = "%.2f"},
    {.title = "share %", .key = "share.mean", .width = 7, .text_format = "%.1f", .scale = 100},
    {.title = "least", .key = "share.least", .width = 6, .text_format = "%.1f", .scale = 100},
    {.title = "most", .key = "share.most", .width = 6, .text_format = "%.1f", .scale = 100},
    {.title = "of roof %", .key = "of_roof", .width = 9, .text_format = "%.1f", .scale = 100},
    {.title = "mapping gains", .key = "mapping_gains", .width = 13, .text_format = "%.3f"},
    {.title = "array %", .key = "by.array", .width = 7, .text_format = "%.0f", .scale = 100},
    {.title = "edges", .key = "by.edges", .width = 5, .text_format = "%.0f", .scale = 100},
    {.title = "memory", .key = "by.memory", .width = 6, .text_format = "%.0f", .scale = 100},
    {.title = "waits", .key = "by.waits", .width = 5, .text_format = "%.0f", .scale = 100},
};
static const bench_form mean_form = {.list = "compressions", BENCH_FORM(mean_columns)};

static bench_cell bound_part(const study_summary *s, study_bound bound) {
  return bench_if(s->time > 0, bench_real(s->by[bound] / s->time));
}

static void add_mean(bench_table *table, const study_rows *rows, size_t compression, size_t mapping) {
  const study_summary s = study_summarise(rows, compression, mapping);
  const sweep_policy_text policy = study_policy(rows->spec, mapping);
  const bool any = s.share.count > 0;
  BENCH_ROW(table, bench_text(rows->spec->compressions[compression].name), bench_text(policy.text),
            bench_count(s.share.count + s.failed), bench_count(s.failed),
            bench_if(any, bench_real(study_geomean(&s.expected))),
            bench_if(any, bench_real(study_geomean(&s.achieved))), bench_if(any, bench_real(study_mean(&s.share))),
            bench_if(any, bench_real(s.share.least)), bench_if(any, bench_real(s.share.most)),
            bench_if(any, bench_real(study_mean(&s.roof))),
            bench_if(s.mapped.count > 0, bench_real(study_geomean(&s.mapped))), bound_part(&s, STUDY_BY_ARRAY),
            bound_part(&s, STUDY_BY_EDGES), bound_part(&s, STUDY_BY_MEMORY), bound_part(&s, STUDY_BY_WAITS));
}

static void print_means(bench_report *report, const study_rows *rows) {
  bench_report_say(
      report,
      "\nSpeed-up that multiplications promise, what came of it, and the share (arithmetic mean, least, most);\n"
      "geometric means over networks, arrays and lowerings of speed-ups and of what the mapping gains over\n"
      "the first one; cycles by what their layers are bound by:\n\n");
  bench_table *table = bench_table_open(report, &mean_form);
  bench_table_heading(table);
  for (size_t c = 0; c < rows->spec->compression_count; c++)
    for (size_t m = 0; m < rows->spec->mapping_count; m++) add_mean(table, rows, c, m);
  bench_report_say(report, "\n");
  for (int b = 0; b < STUDY_BOUND_COUNT; b++)
    bench_report_say(report, "  %-7s %s\n", study_bound_names[b], study_bound_texts[b]);
}

// ---- channels against weights

static const bench_column duel_columns[] = {
    {.title = "mapping", .key = "mapping", .width = -18},
    {.title = "channel share %", .key = "channel.share", .width = 15, .text_format = "%.1f", .scale = 100},
    {.title = "least", .key = "channel.least", .width = 6, .text_format = "%.1f", .scale = 100},
    {.title = "most", .key = "channel.most", .width = 6, .text_format = "%.1f", .scale = 100},
    {.title = "weight share %", .key = "weight.share", .width = 14, .text_format = "%.1f", .scale = 100},
    {.title = "least", .key = "weight.least", .width = 6, .text_format = "%.1f", .scale = 100},
    {.title = "most", .key = "weight.most", .width = 6, .text_format = "%.1f", .scale = 100},
    {.title = "channel wins", .key = "channel_wins", .width = 12},
    {.title = "of", .key = "pairs", .width = 4},
    {.title = "left out: uniform", .key = "wins_left_out.uniform", .width = 17},
    {.title = "of", .key = "pairs_left_out.uniform", .width = 4},
    {.title = "block", .key = "wins_left_out.block", .width = 5},
    {.title = "of", .key = "pairs_left_out.block", .width = 4},
};
static const bench_form duel_form = {.list = "kinds", BENCH_FORM(duel_columns)};

static void add_duel(bench_table *table, const study_rows *rows, size_t mapping) {
  const study_duel d = study_compare(rows, mapping);
  const study_spread *channel = &d.share[STUDY_CHANNEL], *weight = &d.share[STUDY_WEIGHT];
  const bool channels = channel->count > 0, weights = weight->count > 0;
  BENCH_ROW(table, bench_text(study_policy(rows->spec, mapping).text),
            bench_if(channels, bench_real(study_mean(channel))), bench_if(channels, bench_real(channel->least)),
            bench_if(channels, bench_real(channel->most)), bench_if(weights, bench_real(study_mean(weight))),
            bench_if(weights, bench_real(weight->least)), bench_if(weights, bench_real(weight->most)),
            bench_count(d.wins), bench_count(d.pairs), bench_count(d.left_out_wins[STUDY_UNIFORM]),
            bench_count(d.left_out_pairs[STUDY_UNIFORM]), bench_count(d.left_out_wins[STUDY_BLOCK]),
            bench_count(d.left_out_pairs[STUDY_BLOCK]));
}

static void print_duels(bench_report *report, const study_rows *rows) {
  bench_report_say(
      report,
      "\nPruned channels beside pruned weights: shares of the expected speed-up, and in how many networks,\n"
      "arrays and lowerings the fastest with pruned channels beats the fastest with pruned weights, whose\n"
      "zeros are multiplied here; and would beat it if blocks of zeros, side x side, were left out and\n"
      "nothing else were lost, by patterns:\n\n");
  bench_table *table = bench_table_open(report, &duel_form);
  bench_table_heading(table);
  for (size_t m = 0; m < rows->spec->mapping_count; m++) add_duel(table, rows, m);
}

// ---- rankings

static const bench_column rank_columns[] = {
    {.title = "ranked", .key = "ranked", .width = -12},
    {.title = "mapping", .key = "mapping", .width = -18},
    {.title = "pairs", .key = "pairs", .width = 6},
    {.title = "turned", .key = "turned", .width = 6},
    {.title = "at most by %", .key = "turned_at_most", .width = 12, .text_format = "%.1f", .scale = 100, .none = "-"},
    {.title = "rankings", .key = "rankings", .width = 8},
    {.title = "new winners", .key = "new_winners", .width = 11},
};
static const bench_form rank_form = {.list = "rankings", BENCH_FORM(rank_columns)};

static void print_rankings(bench_report *report, const study_rows *rows) {
  if (rows->spec->mapping_count < 2) return;
  bench_report_say(
      report,
      "\nDoes the choice of mappings turn rankings? Pairs that differ by more than 1 %% with the first mapping\n"
      "and with this one, those whose order is the other one, and rankings with another fastest row:\n\n");
  bench_table *table = bench_table_open(report, &rank_form);
  bench_table_heading(table);
  for (int axis = 0; axis < STUDY_AXIS_COUNT; axis++)
    for (size_t m = 1; m < rows->spec->mapping_count; m++) {
      const study_ranking r = study_rank(rows, (study_axis)axis, m);
      if (r.rankings == 0) continue;
      BENCH_ROW(table, bench_text(study_axis_names[axis]), bench_text(study_policy(rows->spec, m).text),
                bench_count(r.pairs), bench_count(r.turned), bench_if(r.turned > 0, bench_real(r.most - 1)),
                bench_count(r.rankings), bench_count(r.winners));
    }
}

void bench_study_print(bench_report *report, const study_rows *rows) {
  print_rows(report, rows);
  print_means(report, rows);
  print_duels(report, rows);
  print_rankings(report, rows);
}
