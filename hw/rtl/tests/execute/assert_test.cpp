// SPDX-License-Identifier: Apache-2.0
// The assertions of the RTL fire when they should, by name, and at no other time.
#include <cstdio>
#include <cstring>

#include "Vassert.h"
#include "verilated.h"

namespace {
struct Cycle {
  bool reset = false, holds = false, valid = false, ready = false;
  unsigned char data = 0;
};

struct Case {
  const char *what;
  const char *name;  // of the assertion that fires in the last cycle; NULL: none
  Cycle cycles[3];
};

const Case cases[] = {
    {"a condition that holds", nullptr, {{false, true}, {false, true}, {false, true}}},
    {"a condition that does not hold", "Holds", {{false, true}, {false, true}, {false, false}}},
    {"a condition in reset", nullptr, {{true, false}, {true, false}, {true, false}}},
    {"a stream that waits",
     nullptr,
     {{false, true, true, false, 7}, {false, true, true, false, 7}, {false, true, true, true, 7}}},
    {"a stream that goes on",
     nullptr,
     {{false, true, true, true, 7}, {false, true, true, true, 8}, {false, true, false, true, 9}}},
    {"a stream that withdraws",
     "Stable.Valid",
     {{false, true}, {false, true, true, false, 7}, {false, true, false, false, 7}}},
    {"a payload that changes",
     "Stable.Payload",
     {{false, true}, {false, true, true, false, 7}, {false, true, true, true, 8}}},
    {"a stream that waits into a reset", nullptr, {{false, true, true, false, 7}, {true, true}, {false, true}}},
};

// What the model printed, from a file that stands in for stdout.
bool printed(FILE *out, const char *name) {
  char text[4096] = "", wanted[64];
  std::snprintf(wanted, sizeof wanted, "weft_assert_bench.%s does not hold", name);
  std::fflush(stdout);
  std::rewind(out);
  text[std::fread(text, 1, sizeof text - 1, out)] = '\0';
  return std::strstr(text, wanted) != nullptr;
}

bool run(const Case &test) {
  VerilatedContext context;
  context.fatalOnError(false);
  Vassert dut(&context);
  FILE *out = std::freopen("assert_test.out", "w+", stdout);
  if (out == nullptr) return false;
  dut.rst_ni = 0;
  dut.eval();
  bool early = false;
  for (const Cycle &cycle : test.cycles) {
    early = context.gotError();
    dut.rst_ni = !cycle.reset;
    dut.holds_i = cycle.holds;
    dut.valid_i = cycle.valid;
    dut.ready_i = cycle.ready;
    dut.data_i = cycle.data;
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
    dut.clk_i = 0;
    dut.eval();
  }
  if (test.name == nullptr) return !context.gotError();
  return !early && context.gotError() && printed(out, test.name);
}
}  // namespace

int main() {
  int failures = 0;
  for (const Case &test : cases) {
    if (run(test)) continue;
    std::fprintf(stderr, "FAILED %s\n", test.what);
    failures++;
  }
  return failures != 0;
}
