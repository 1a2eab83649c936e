// SPDX-License-Identifier: Apache-2.0
// Random well-formed programs: dataflow, transpositions, strides, ragged sizes, operands and results anywhere in local
// memory (so that they overlap and depend on each other), accumulation, banks that refuse reads, late commands.
#include <cstdio>

#include "tests.h"

namespace {
class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}
  std::vector<Command> program(int configs);
  bool chance(int percent) { return (int)(random_() % 100) < percent; }

 private:
  std::mt19937 random_;
  Config config_;
  std::vector<Command> out_;

  int between(int low, int high) { return low + (int)(random_() % (uint32_t)(high - low + 1)); }
  uint32_t place(bool acc, int rows);
  uint32_t source(int rows, bool may_acc, int garbage_percent);
  void configure();
  void weight_stationary_pair(bool weights_loaded);
  void output_stationary_chain();
};

bool overlap(uint32_t a, int a_rows, uint32_t b, int b_rows) {
  if (a == GARBAGE || b == GARBAGE || (a & ACC) != (b & ACC)) return false;
  const int first = (int)(a & 0xffffff), other = (int)(b & 0xffffff);
  return first < other + b_rows && other < first + a_rows;
}

uint32_t Writer::place(bool acc, int rows) {
  const int last = (acc ? ACC_ROWS : SP_ROWS) - rows;
  // Mostly in a small region, so that commands meet.
  int row = chance(70) ? between(0, last < 4 * DIM ? last : 4 * DIM) : between(0, last);
  if (chance(50)) row = row / DIM * DIM;
  return (acc ? ACC : 0) | (uint32_t)row;
}

uint32_t Writer::source(int rows, bool may_acc, int garbage_percent) {
  if (chance(garbage_percent)) return GARBAGE;
  return place(may_acc && READS_ACC && chance(20), rows);
}

void Writer::configure() {
  Config next = config_;
  next.strides_only = chance(15) && !out_.empty();
  next.a_stride = chance(60) ? 1 : between(1, 3);
  if (!next.strides_only) {
    next.ws = DATAFLOW == 0 || (DATAFLOW == 2 && chance(50));
    const int mode = between(0, 2);
    next.a_transpose = mode == 1 || (mode == 2 && !next.ws);
    next.b_transpose = mode == 2;
    next.activation = between(0, 1);
    next.shift = next.ws ? 0 : chance(30) ? 0 : between(0, 12);
    const uint32_t scales[] = {0x3f800000u, 0x3e800000u, 0xbf000000u, 0x3c000000u};
    next.scale = scales[between(0, 3)];
  }
  // Output-stationary results have a meaning with stride 1 only.
  next.c_stride = !next.ws || chance(60) ? 1 : between(1, 3);
  out_.push_back(config_ex(next));
  config_ = next;
  config_.strides_only = false;
}

void Writer::weight_stationary_pair(bool weights_loaded) {
  const bool load = !weights_loaded || chance(60);
  const int m = chance(50) ? DIM : between(1, DIM), k = between(1, DIM), n = between(1, DIM);
  const int a_span = DIM * config_.a_stride, c_span = DIM * config_.c_stride;
  const uint32_t b = load ? source(DIM, true, 5) : chance(80) ? GARBAGE : source(DIM, true, 0);
  const uint32_t a = source(a_span, true, 5), d = source(DIM, true, 60);
  const bool to_acc = !WRITES_SP || chance(50);
  uint32_t c = chance(10) ? GARBAGE : place(to_acc, c_span);
  // A product that overwrites its own operands while reading them has no defined order.
  if (overlap(c, c_span, a, a_span) || overlap(c, c_span, d, DIM)) c = GARBAGE;
  if (c != GARBAGE && to_acc && chance(50)) c |= ACCUMULATE;
  out_.push_back({PRELOAD, field(b, k, n), field(c, between(1, DIM), between(1, DIM)), 0});
  out_.push_back(
      {(uint8_t)(load ? COMPUTE_PRELOADED : COMPUTE_ACCUMULATED), field(a, m, k), field(d, between(1, DIM), n), 0});
}

void Writer::output_stationary_chain() {
  const int length = between(1, 4);
  const uint32_t bias = source(DIM, true, 40);
  const int a_span = DIM * config_.a_stride;
  const bool to_acc = !WRITES_SP || chance(50);
  for (int i = 0; i < length; i++) {
    const uint32_t a = source(a_span, true, 5), b = source(DIM, true, 5);
    uint32_t c = i == length - 1 && chance(90) ? place(to_acc, DIM) : GARBAGE;
    if (overlap(c, DIM, a, a_span) || overlap(c, DIM, b, DIM) || overlap(c, DIM, bias, DIM)) c = GARBAGE;
    if (c != GARBAGE && to_acc && chance(50)) c |= ACCUMULATE;
    const int m = between(1, DIM), k = between(1, DIM), n = between(1, DIM);
    out_.push_back({PRELOAD, field(i == 0 ? bias : GARBAGE, between(1, DIM), between(1, DIM)),
                    field(c, between(1, DIM), between(1, DIM)), 0});
    out_.push_back({(uint8_t)(i == 0 ? COMPUTE_PRELOADED : COMPUTE_ACCUMULATED), field(a, m, k), field(b, k, n), 0});
  }
}

std::vector<Command> Writer::program(int configs) {
  out_.clear();
  for (int c = 0; c < configs; c++) {
    configure();
    const int pieces = between(1, 8);
    for (int i = 0; i < pieces; i++) {
      if (config_.ws)
        weight_stationary_pair(i > 0);
      else
        output_stationary_chain();
    }
  }
  // Some commands come late, so that operations run alone and flushes happen; some come while others run.
  uint64_t at = 0;
  const bool late = chance(50);
  for (Command &command : out_) {
    if (late && chance(20)) at += (uint64_t)between(1, chance(50) ? 2 * DIM : 12 * DIM);
    command.available = at;
  }
  return out_;
}
}  // namespace

void test_random(int programs) {
  Writer writer(7);
  for (int i = 0; i < programs; i++) {
    Bench bench(1000u + (uint32_t)i);
    bench.stall = writer.chance(50) ? 0 : 0.3;
    bench.random_issue = writer.chance(30);
    const std::string name = "random program " + std::to_string(i);
    bool good = true;
    // Two programs on one unit: the second starts from whatever state the first leaves.
    for (int part = 0; part < 2 && good; part++) good = bench.run(writer.program(1 + i % 5), name);
    check(good, name, "results");
    if (!good) break;
  }
}
