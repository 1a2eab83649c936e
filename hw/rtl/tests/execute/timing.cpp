// SPDX-License-Identifier: Apache-2.0
// Cycles of the execute unit against its closed forms, for any DIM, and at DIM 16 against the numbers measured on the
// reference (issue cycle 16 for the first command). "Start" is the cycle in which an operation begins to read.
#include <cstdio>

#include "tests.h"

namespace {
enum { FIRST = 16, FEED = READ_DELAY + 2 };  // start -> the row enters the mesh

struct Pair {
  uint32_t d, c, a, b;
  int rows = DIM;
  bool keep = false;
};

void push(std::vector<Command> &program, const Pair &p) {
  const uint64_t at = FIRST + program.size();
  program.push_back({PRELOAD, field(p.d, DIM, DIM), field(p.c, p.rows, DIM), at});
  program.push_back({(uint8_t)(p.keep ? COMPUTE_ACCUMULATED : COMPUTE_PRELOADED), field(p.a, p.rows, DIM),
                     field(p.b, p.rows, DIM), at + 1});
}

// Runs after a configuration on an idle unit; completion cycle by command.
std::vector<uint64_t> completions(Bench &bench, const Config &config, const std::vector<Command> &program,
                                  const char *name) {
  std::vector<uint64_t> cycles(program.size());
  bool good = bench.run({config_ex(config)}, name) && bench.quiet_run(6 * DIM + MESH_LATENCY + 30);
  bench.restart();
  good = good && bench.run(program, name) && bench.quiet_run(6 * DIM + MESH_LATENCY + 30);
  check(good, name, "results");
  for (const Event &e : bench.done) cycles[(size_t)e.command] = e.cycle;
  return cycles;
}

uint32_t bank_row(int bank, int row) { return (uint32_t)((bank << SP_BANK_BITS) + row); }

const int START = FIRST + 3;             // a preload and its compute issued at 16 and 17
const int RESULT = FEED + MESH_LATENCY;  // start of the compute -> its first result row

void expect(const char *name, const std::vector<uint64_t> &found, const std::vector<int> &wanted) {
  for (size_t i = 0; i < wanted.size(); i++)
    check_equal(name, "completion of command " + std::to_string(i), (int)found[i], wanted[i]);
}

Config stationary(bool ws) {
  Config config;
  config.ws = ws;
  return config;
}

void back_to_back(Bench &bench) {
  for (int n = 1; n <= 4; n++) {
    std::vector<Command> program;
    for (int i = 0; i < n; i++)
      push(program, {bank_row(2, DIM * i), ACC | (uint32_t)(DIM * i), bank_row(0, DIM * i), GARBAGE});
    auto found = completions(bench, stationary(true), program, "back to back");
    for (int i = 0; i < n; i++) {
      const int start = START + DIM * (i + 1);  // of the compute; the first preload takes DIM cycles before
      int preload_done = start + RESULT + DIM - 1, compute_done = start + DIM;
      check_equal("back to back", "preload " + std::to_string(i), (int)found[2 * i], preload_done);
      // A product's completion goes first when both fall into one cycle.
      for (int j = 0; j < n; j++) compute_done += (int)found[2 * j] == compute_done;
      check_equal("back to back", "compute " + std::to_string(i), (int)found[2 * i + 1], compute_done);
    }
    if (DIM == 16 && MESH_LATENCY == 32 && n == 4)
      expect("back to back, reference", found, {88, 51, 104, 67, 120, 83, 136, 99});
  }
}

void keep_weights(Bench &bench) {
  std::vector<Command> program;
  for (int i = 0; i < 3; i++)
    push(program, {i ? GARBAGE : bank_row(2, 0), ACC | (uint32_t)(DIM * i), bank_row(0, DIM * i), GARBAGE, DIM, i > 0});
  auto found = completions(bench, stationary(true), program, "keep weights");
  for (int i = 0; i < 3; i++)
    check_equal("keep weights", "preload", (int)found[2 * i], START + DIM * (i + 1) + RESULT + DIM - 1);
}

void few_rows(Bench &bench) {
  std::vector<Command> program;
  const int rows = MIN_ROWS;
  for (int i = 0; i < 3; i++)
    push(program,
         {i ? GARBAGE : bank_row(2, 0), ACC | (uint32_t)(DIM * i), bank_row(0, DIM * i), GARBAGE, rows, i > 0});
  auto found = completions(bench, stationary(true), program, "few rows");
  for (int i = 0; i < 3; i++)
    check_equal("few rows", "preload", (int)found[2 * i], START + DIM + rows * i + RESULT + rows - 1);
  if (DIM == 16 && MESH_LATENCY == 32) expect("few rows, reference", found, {76, 39, 80, 43, 84, 47});
}

void bank_conflict(Bench &bench) {
  std::vector<Command> program;
  for (int i = 0; i < 3; i++)
    push(program, {bank_row(2, DIM * i), ACC | (uint32_t)(DIM * i), bank_row(2, DIM * (4 + i)), GARBAGE});
  auto found = completions(bench, stationary(true), program, "bank conflict");
  // Two operations with A and the next weights in one bank take 2 DIM; the last row enters one cycle late.
  const int starts[] = {START + DIM, START + 3 * DIM, START + 5 * DIM};
  check_equal("bank conflict", "first", (int)found[0], starts[0] + 2 * DIM + RESULT - 1);
  check_equal("bank conflict", "second", (int)found[2], starts[1] + 2 * DIM + RESULT - 1);
  check_equal("bank conflict", "last", (int)found[4], starts[2] + DIM + RESULT - 1);
  if (DIM == 16 && MESH_LATENCY == 32) expect("bank conflict, reference", found, {104, 67, 136, 99, 152, 115});
}

void dependent_chain(Bench &bench) {
  if (!WRITES_SP) return;
  std::vector<Command> program;
  const int n = 4;
  for (int i = 0; i < n; i++)
    push(program, {bank_row(2, DIM * i), bank_row(1, DIM * (i + 1)), bank_row(1, DIM * i), GARBAGE});
  auto found = completions(bench, stationary(true), program, "dependent chain");
  // The next preload starts when the last row has been written; each link takes preload, compute and the mesh.
  const int link = 2 * DIM + RESULT;
  check_equal("dependent chain", "first", (int)found[0], START + DIM + RESULT + DIM - 1);
  for (int i = 1; i < n; i++) check_equal("dependent chain", "link", (int)(found[2 * i] - found[2 * i - 2]), link);
  if (DIM == 16 && MESH_LATENCY == 32) check_equal("dependent chain", "link, reference", link, 70);
}

void configurations(Bench &bench) {
  std::vector<Command> alone = {config_ex(stationary(true), FIRST)};
  auto found = completions(bench, stationary(true), alone, "config alone");
  check_equal("config alone", "completion", (int)found[0], FIRST + 2);

  std::vector<Command> program;
  const int n = 4;
  for (int i = 0; i < n; i++) {
    if (i > 0) program.push_back(config_ex(stationary(true), FIRST + program.size()));
    push(program, {bank_row(2, 0), ACC, bank_row(0, 0), GARBAGE});
  }
  found = completions(bench, stationary(true), program, "config between");
  // A flush takes one request, DIM rows and a cycle to look again; the config acts when the first look after the last
  // result row finds the unit drained. A flush can start when the compute's last row enters the mesh.
  const int compute = START + DIM, last_row = compute + RESULT + DIM - 1;
  int look = compute + DIM + FEED - 1 + DIM + 1;
  while (look <= last_row) look += DIM + 2;
  check_equal("config between", "first", (int)found[0], last_row);
  check_equal("config between", "config", (int)found[2], look);
  const int period = look + 1 - START;
  for (int i = 1; i < n; i++) check_equal("config between", "period", (int)(found[3 * i] - found[3 * i - 3]), period);
  if (DIM == 16 && MESH_LATENCY == 32) {
    check_equal("config between", "period, reference", period, 73);
    expect("config between, reference", found, {88, 51, 91, 161, 124});
  }
}

void transposed_b(Bench &bench) {
  Config config = stationary(true);
  config.b_transpose = true;
  std::vector<Command> program;
  for (int i = 0; i < 3; i++)
    push(program, {bank_row(2, DIM * i), ACC | (uint32_t)(DIM * i), bank_row(0, DIM * i), GARBAGE});
  auto found = completions(bench, config, program, "B transposed");
  // Preload, empty compute with the second preload, compute with the next preload ...: 2 DIM per pair.
  const int first = START + 1;
  for (int i = 0; i < 3; i++)
    check_equal("B transposed", "preload", (int)found[2 * i], first + 2 * DIM * (i + 1) + RESULT + DIM - 1);
  if (DIM == 16 && MESH_LATENCY == 32) {
    // The third command waits for the split of the first: issued at 21.
    expect("B transposed, reference", found, {105, 68, 137, 100});
    check_equal("B transposed", "issue of the third command, reference", (int)bench.issued[2].cycle, 21);
    check_equal("B transposed", "issue of the fourth command, reference", (int)bench.issued[3].cycle, 22);
  }
  program.clear();
  for (int i = 0; i < 3; i++)
    push(program, {i ? GARBAGE : bank_row(2, 0), ACC | (uint32_t)(DIM * i), bank_row(0, DIM * i), GARBAGE, DIM, i > 0});
  found = completions(bench, config, program, "B transposed, weights kept");
  for (int i = 0; i < 3; i++)
    check_equal("B transposed, weights kept", "preload", (int)found[2 * i], first + DIM * (i + 2) + RESULT + DIM - 1);
}

void transposed_a(Bench &bench) {
  Config config = stationary(true);
  config.a_transpose = true;
  std::vector<Command> program;
  for (int i = 0; i < 3; i++)
    push(program, {bank_row(2, DIM * i), ACC | (uint32_t)(DIM * i), bank_row(0, DIM * i), GARBAGE});
  auto found = completions(bench, config, program, "A transposed");
  for (int i = 0; i < 3; i++)
    check_equal("A transposed", "preload", (int)found[2 * i], START + DIM * (i + 1) + RESULT + DIM - 1);
}

void output_stationary(Bench &bench) {
  const uint32_t to = WRITES_SP ? bank_row(1, 0) : ACC;
  std::vector<Command> program;
  for (int i = 0; i < 3; i++)
    push(program, {GARBAGE, to + (uint32_t)(DIM * i), bank_row(0, DIM * i), bank_row(2, DIM * i)});
  auto found = completions(bench, stationary(false), program, "output-stationary");
  // Sums leave with the next compute; the last with a flush that follows the last row into the mesh.
  for (int i = 0; i < 3; i++)
    check_equal("output-stationary", "preload", (int)found[2 * i], START + DIM * (i + 2) + RESULT + DIM - 1);
  if (DIM == 16 && MESH_LATENCY == 32) expect("output-stationary, reference", found, {104, 51, 120, 67, 136, 83});

  program.clear();
  for (int i = 0; i < 3; i++)
    push(program, {GARBAGE, i == 2 ? to : GARBAGE, bank_row(0, DIM * i), bank_row(2, DIM * i), DIM, i > 0});
  found = completions(bench, stationary(false), program, "output-stationary chain");
  check_equal("output-stationary chain", "preload without C", (int)found[0], START + DIM);
  check_equal("output-stationary chain", "result", (int)found[4], START + 4 * DIM + RESULT + DIM - 1);
  if (DIM == 16 && MESH_LATENCY == 32) expect("output-stationary chain, reference", found, {35, 51, 52, 67, 136, 83});
}

void solitary_preload(Bench &bench) {
  std::vector<Command> program;
  push(program, {bank_row(2, 0), ACC, bank_row(0, 0), GARBAGE});
  program[1].available = FIRST + 50;
  auto found = completions(bench, stationary(true), program, "solitary preload");
  check_equal("solitary preload", "cycles", (int)bench.solitary_cycles, 50);
  check_equal("solitary preload", "completion", (int)found[0], START + 49 + DIM + RESULT + DIM - 1);
  Config config = stationary(true);
  config.b_transpose = true;
  found = completions(bench, config, program, "solitary preload, transposed");
  // Held back by the unroller, then one cycle in front of the split's empty compute.
  check_equal("solitary preload, transposed", "cycles", (int)bench.solitary_cycles, 50 + 1);
}

void counted_events(Bench &bench) {
  std::vector<Command> program;
  for (int i = 0; i < 2; i++)
    push(program, {bank_row(2, DIM * i), ACC | (uint32_t)(DIM * i), bank_row(0, DIM * i), GARBAGE});
  completions(bench, stationary(true), program, "events");
  // Three operations, each seen one cycle late; rows of A, B and D that are garbage or not part of the operation.
  check_equal("events", "active", (int)bench.events[0], 3 * (DIM - 1));
  check_equal("events", "flush", (int)bench.events[1], 0);
  check_equal("events", "A garbage", (int)bench.events[11], DIM);
  check_equal("events", "B garbage", (int)bench.events[12], 3 * DIM);
  check_equal("events", "D garbage", (int)bench.events[13], DIM);
}
}  // namespace

void test_timing() {
  // A, weights and bias or results are put into banks of their own.
  if (SP_BANKS < 4) return;
  Bench bench(1);
  if (DATAFLOW != 1) {
    back_to_back(bench);
    keep_weights(bench);
    few_rows(bench);
    bank_conflict(bench);
    dependent_chain(bench);
    configurations(bench);
    // At DIM 2 an operation is over before the split of the next preload has come.
    if (DIM > 2) transposed_b(bench);
    transposed_a(bench);
    solitary_preload(bench);
    counted_events(bench);
  }
  if (DATAFLOW != 0) output_stationary(bench);
}
