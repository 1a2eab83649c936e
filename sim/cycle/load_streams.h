// Bursts of plain rows that are not taken apart. See load_streams.c.
#ifndef SIM_CYCLE_LOAD_STREAMS_H
#define SIM_CYCLE_LOAD_STREAMS_H

#include "sim/cycle/load_path_inside.h"

cycle_burst_rows *path_oldest_stream(struct cycle_load_path *p);
void path_find_stream_write(struct cycle_load_path *p);
// Streams become rows in the stages that they have reached.
void path_unroll(cycle_engine *c, struct cycle_load_path *p);
void path_await_stream(cycle_engine *c, struct cycle_load_path *p);
bool path_is_plain(const struct cycle_load_path *p, const cycle_burst *b);
bool path_can_stream(struct cycle_load_path *p, const cycle_burst *b);
uint64_t path_gap_of(const struct cycle_load_path *p, const cycle_burst_rows *b);
uint64_t path_banks_of(const cycle_engine *c, const struct cycle_load_path *p, const cycle_burst_rows *b);
void path_find_banks(cycle_engine *c, struct cycle_load_path *p);
// The burst that was opened.
void path_start_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The next row of a burst, or a copy of it, goes to its place.
void path_move_piece(cycle_engine *c, const cycle_burst_rows *b, uint32_t copy);
void path_catch_up(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The row of this cycle. True: an answer was given.
bool path_write_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p);

#endif
