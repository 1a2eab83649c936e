// SPDX-License-Identifier: Apache-2.0
// Bursts of plain rows that are not taken apart. See load_streams.c.
#ifndef SIM_CYCLE_LOAD_STREAMS_H
#define SIM_CYCLE_LOAD_STREAMS_H

#include "sim/cycle/load_path_inside.h"

// What may be a stream: a burst of plain rows; it finds the stages empty, or follows streams of its sort.
bool cycle_load_path_is_plain(const struct cycle_load_path *p, const cycle_burst *b);
bool cycle_load_path_can_stream(struct cycle_load_path *p, const cycle_burst *b);
// The burst that was opened becomes a stream.
void cycle_load_path_start_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The oldest stream; the cycle in which its next row is written (p->stream_write).
cycle_burst_rows *cycle_load_path_oldest_stream(struct cycle_load_path *p);
void cycle_load_path_find_stream_write(struct cycle_load_path *p);
// Cycles between two rows of a burst but for the last, 0: it varies; the scratchpad banks that its rows go to.
uint64_t cycle_load_path_gap_of(const struct cycle_load_path *p, const cycle_burst_rows *b);
uint64_t cycle_load_path_banks_of(const cycle_engine *c, const struct cycle_load_path *p, const cycle_burst_rows *b);
// Sets c->load_banks.
void cycle_load_path_find_banks(cycle_engine *c, struct cycle_load_path *p);
// Sets the wake time and c->load_write.
void cycle_load_path_await_stream(cycle_engine *c, struct cycle_load_path *p);
// The next row of a burst, or a copy of it, goes to its place.
void cycle_load_path_move_piece(cycle_engine *c, const cycle_burst_rows *b, uint32_t copy);
// The rows of the cycles before this one are written.
void cycle_load_path_catch_up(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// The row of this cycle. True: an answer was given.
bool cycle_load_path_write_stream(cycle_engine *c, uint64_t now, struct cycle_load_path *p);
// Streams become rows in the stages that they have reached.
void cycle_load_path_unroll(cycle_engine *c, struct cycle_load_path *p);

#endif
