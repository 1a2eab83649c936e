// Bursts of plain rows that are not taken apart. See load_streams.c.
#ifndef SIM_CYCLE_LOAD_STREAMS_H
#define SIM_CYCLE_LOAD_STREAMS_H

#include "sim/cycle/load_path_inside.h"

cycle_burst_rows *cycle_load_path_oldest_stream(struct cycle_load_path *p);
void cycle_load_path_find_stream_write(struct cycle_load_path *p);
// Streams become rows in the stages that they have reached.
void cycle_load_path_unroll(cycle_engine *c, struct cycle_load_path *p);
void cycle_load_path_await_stream(cycle_engine *c, struct cycle_load_path *p);
bool cycle_load_path_is_plain(const struct cycle_load_path *p, const cycle_burst *b);
bool cycle_load_path_can_stream(struct cycle_load_path *p, const cycle_burst *b);
uint64_t cycle_load_path_gap_of(const struct cycle_load_path *p, const cycle_burst_rows *b);
uint64_t cycle_load_path_banks_of(const cycle_engine *c, const struct cycle_load_path *p, const cycle_burst_rows *b);
void cycle_load_path_find_banks(cycle_engine *c, struct cycle_load_path *p);
// The burst that was opened.
void cycle_load_path_start_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The next row of a burst, or a copy of it, goes to its place.
void cycle_load_path_move_piece(cycle_engine *c, const cycle_burst_rows *b, uint32_t copy);
void cycle_load_path_catch_up(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The row of this cycle. True: an answer was given.
bool cycle_load_path_write_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p);

#endif
