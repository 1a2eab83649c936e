// SPDX-License-Identifier: Apache-2.0
// Testbench of the execute unit: `main [random programs]`.
#include <cstdio>
#include <cstdlib>

#include "tests.h"
#include "verilated.h"

static int checks, failures;

void check(bool good, const std::string &test, const std::string &what) {
  checks++;
  if (good) return;
  failures++;
  fprintf(stderr, "FAILED %s: %s\n", test.c_str(), what.c_str());
}

void check_equal(const std::string &test, const std::string &what, int found, int wanted) {
  check(found == wanted, test, what + " at " + std::to_string(found) + ", not " + std::to_string(wanted));
}

int main(int argc, char **argv) {
  Verilated::assertOn(true);
  Verilated::randReset(2);
  test_timing();
  test_random(argc > 1 ? atoi(argv[1]) : 100);
  printf("execute unit, DIM %d: %d passed, %d failed\n", DIM, checks - failures, failures);
  return failures != 0;
}
