// SPDX-License-Identifier: Apache-2.0
// The shared cells against plain models: every sequence of inputs of SEQUENCE cycles from reset, then a long random
// one.
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "Vcells.h"
#include "verilated.h"

namespace {
enum { FIFOS = 16, PIPES = 4, WINDOWS = 4, ARBITERS = 6, SKEWS = 4, SEQUENCE = 7, RANDOM_CYCLES = 20000 };
int checks, failures;

void check(bool good, const char *what, int form) {
  checks++;
  if (good) return;
  if (failures++ < 20) fprintf(stderr, "FAILED %s, form %d\n", what, form);
}

template <typename Port>
unsigned get(const Port &port, int lsb, int width) {
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(&port);
  unsigned value = 0;
  for (int i = 0; i < width; i++) value |= (unsigned)(bytes[(lsb + i) / 8] >> ((lsb + i) % 8) & 1) << i;
  return value;
}

struct Models {
  std::array<std::deque<uint8_t>, FIFOS> fifos;
  std::array<std::vector<int>, PIPES> pipes;  // -1: empty stage
  std::array<std::deque<uint8_t>, WINDOWS> windows;
  Models() {
    for (int v = 0; v < PIPES; v++) pipes[v].assign((size_t)v, -1);
  }
};

void cycle_fifos(const Vcells &dut, Models &m) {
  for (int v = 0; v < FIFOS; v++) {
    auto &q = m.fifos[v];
    const size_t depth = 1 + v / 4;
    const bool pipe = v & 1, flow = v & 2;
    const bool ready = q.size() < depth || (pipe && dut.out_ready_i);
    const bool valid = !q.empty() || (flow && dut.in_valid_i);
    check(get(dut.fifo_ready_o, v, 1) == ready, "FIFO ready", v);
    check(get(dut.fifo_valid_o, v, 1) == valid, "FIFO valid", v);
    check(get(dut.fifo_count_o, 4 * v, 4) == q.size(), "FIFO count", v);
    if (dut.in_valid_i && ready) q.push_back(dut.in_data_i);
    if (!valid) continue;
    check(get(dut.fifo_data_o, 8 * v, 8) == q.front(), "FIFO data", v);
    if (dut.out_ready_i) q.pop_front();
  }
}

void cycle_pipes(const Vcells &dut, Models &m) {
  for (int v = 0; v < PIPES; v++) {
    auto &stage = m.pipes[v];
    // moves[i]: what stands in stage i goes on, or nothing stands there.
    std::vector<bool> moves((size_t)v + 1);
    moves[v] = dut.out_ready_i;
    for (int i = v - 1; i >= 0; i--) moves[i] = stage[i] < 0 || moves[i + 1];
    const int last = v ? stage[v - 1] : dut.in_valid_i ? dut.in_data_i : -1;
    bool busy = dut.in_valid_i;
    for (int s : stage) busy |= s >= 0;
    check(get(dut.pipe_ready_o, v, 1) == moves[0], "pipe ready", v);
    check(get(dut.pipe_valid_o, v, 1) == (last >= 0), "pipe valid", v);
    check(get(dut.pipe_busy_o, v, 1) == busy, "pipe busy", v);
    if (last >= 0) check((int)get(dut.pipe_data_o, 8 * v, 8) == last, "pipe data", v);
    for (int i = v - 1; i >= 0; i--)
      if (moves[i]) stage[i] = i ? stage[i - 1] : dut.in_valid_i ? dut.in_data_i : -1;
  }
}

void cycle_windows(const Vcells &dut, Models &m) {
  for (int v = 0; v < WINDOWS; v++) {
    auto &q = m.windows[v];
    const size_t depth = 2 + v, heads = 2 + v / 2;
    const bool ready = q.size() < depth;
    check(get(dut.window_ready_o, v, 1) == ready, "window ready", v);
    size_t present = 0;
    for (size_t h = 0; h < heads; h++) {
      const bool there = q.size() > h;
      present += there;
      check(get(dut.window_valid_o, 3 * v + (int)h, 1) == there, "window valid", v);
      if (there) check(get(dut.window_data_o, 24 * v + 8 * (int)h, 8) == q[h], "window data", v);
    }
    size_t pop = dut.pop_i < present ? dut.pop_i : present;
    while (pop--) q.pop_front();
    if (dut.in_valid_i && ready) q.push_back(dut.in_data_i);
  }
}

void reset(Vcells &dut) {
  dut.rst_ni = 0;
  dut.eval();
  dut.rst_ni = 1;
}

// Loops in program order: the innermost, loop 0, first.
void step_nest(const Vcells &dut, std::array<unsigned, 3> &at) {
  bool steps = dut.out_ready_i;
  for (int l = 0; l < 3; l++) {
    const unsigned by = dut.nest_by_i >> 4 * l & 15, end = dut.nest_end_i >> 4 * l & 15;
    const bool last = at[l] + by >= end;
    check(get(dut.nest_at_o, 4 * l, 4) == at[l], "nest position", l);
    check(get(dut.nest_last_o, l, 1) == last, "nest end", l);
    if (steps) at[l] = last ? 0 : at[l] + by;
    steps &= last;
  }
}

// Every aligned burst of each size that holds the first byte; the best carries most, the smallest of equals.
void check_cut(const Vcells &dut) {
  const unsigned address = dut.vector_i & 255, left = dut.vector_i >> 8 & 255;
  unsigned best = 0, bytes = 0;
  for (unsigned size = 4; size <= 16; size *= 2) {
    unsigned carried = 0;
    for (unsigned byte = address; byte < address / size * size + size && byte < address + left; byte++) carried++;
    if (carried > bytes) best = size, bytes = carried;
  }
  check(get(dut.cut_o, 10, 5) == best && get(dut.cut_o, 0, 5) == bytes, "burst", (int)left);
  check(best == 0 || get(dut.cut_o, 5, 5) == address % best, "burst offset", (int)left);
}

void step_ids(const Vcells &dut, std::array<bool, 8> &used) {
  unsigned count = 0, next = 5;
  for (unsigned i = 5; i-- > 0;) used[i] ? void(count++) : void(next = i);
  check(dut.ids_count_o == count && dut.ids_available_o == (count < 5), "ids in use", (int)count);
  check(count == 5 || dut.ids_next_o == next, "next id", (int)next);
  const unsigned freed = dut.in_data_i & 7;
  if (dut.out_ready_i) used[freed] = false;
  if (dut.in_valid_i && count < 5) used[next] = true;
}

void test_counters(Vcells &dut, std::mt19937 &random) {
  std::array<unsigned, 3> at{};
  std::array<bool, 8> used{};
  unsigned in_flight = 0;
  reset(dut);
  for (int t = 0; t < RANDOM_CYCLES; t++) {
    const unsigned bits = (unsigned)random();
    if (at[0] + at[1] + at[2] == 0) {
      // Ends of 1 and more; steps of 1 to 4.
      dut.nest_end_i = (uint16_t)(0x111 + (bits & 0x777));
      dut.nest_by_i = (uint16_t)(0x111 + (bits >> 3 & 0x333));
    }
    dut.vector_i = (uint32_t)random();
    dut.in_valid_i = bits >> 12 & 1;
    dut.out_ready_i = bits >> 13 & 1;
    dut.in_data_i = (uint8_t)((bits >> 16 & 7) % 5);
    const unsigned completed = bits >> 20 & 3;
    dut.completed_i = (uint8_t)(completed > 2 ? 0 : completed > in_flight ? in_flight : completed);
    dut.eval();
    step_nest(dut, at);
    check_cut(dut);
    step_ids(dut, used);
    check(dut.flight_full_o == (in_flight == 5), "in flight", (int)in_flight);
    in_flight += (dut.in_valid_i && in_flight < 5) - dut.completed_i;
    dut.clk_i = 1;
    dut.eval();
    dut.clk_i = 0;
  }
}

void cycle(Vcells &dut, Models &m) {
  dut.eval();
  cycle_fifos(dut, m);
  cycle_pipes(dut, m);
  cycle_windows(dut, m);
  dut.clk_i = 1;
  dut.eval();
  dut.clk_i = 0;
}

void test_arbiters(Vcells &dut) {
  for (int v = 0; v < ARBITERS; v++) {
    for (unsigned request = 0; request < 2u << v; request++) {
      dut.request_i = (uint8_t)request;
      dut.eval();
      unsigned wanted = 0;
      for (int i = v; i >= 0; i--)
        if (request >> i & 1) wanted = 1u << i;
      check(get(dut.grant_o, 6 * v, 6) == wanted, "arbiter", v);
    }
  }
}

void test_skews(Vcells &dut, std::mt19937 &random) {
  std::vector<uint32_t> history;
  for (int t = 0; t < 100; t++) {
    history.push_back((uint32_t)random());
    dut.vector_i = history.back();
    dut.eval();
    for (int v = 0; v < SKEWS; v++) {
      for (int e = 0; e < 4; e++) {
        const int delay = (v & 1 ? 3 - e : e) * (1 + v / 2);
        if (t >= delay)
          check(get(dut.skew_o, 32 * v + 8 * e, 8) == (history[(size_t)(t - delay)] >> 8 * e & 255), "skew", v);
      }
    }
    dut.clk_i = 1;
    dut.eval();
    dut.clk_i = 0;
  }
}
}  // namespace

int main() {
  Vcells dut;
  std::mt19937 random(3);
  dut.clk_i = 0;
  dut.rst_ni = 1;
  dut.eval();
  for (unsigned sequence = 0; sequence < 1u << 2 * SEQUENCE; sequence++) {
    Models models;
    reset(dut);
    for (int t = 0; t < SEQUENCE; t++) {
      dut.in_valid_i = sequence >> 2 * t & 1;
      dut.out_ready_i = sequence >> (2 * t + 1) & 1;
      dut.pop_i = dut.out_ready_i ? 1 + (t & 1) : 0;
      dut.in_data_i = (uint8_t)(t + 1);
      cycle(dut, models);
    }
  }
  Models models;
  reset(dut);
  for (int t = 0; t < RANDOM_CYCLES; t++) {
    const unsigned bits = (unsigned)random();
    dut.in_valid_i = bits & 1;
    dut.out_ready_i = (bits >> 1 & 3) > (bits >> 20 & 1);
    dut.pop_i = bits >> 3 & 3;
    dut.in_data_i = (uint8_t)(bits >> 8);
    cycle(dut, models);
  }
  test_arbiters(dut);
  test_skews(dut, random);
  test_counters(dut, random);
  printf("cells: %d passed, %d failed\n", checks - failures, failures);
  return failures != 0;
}
