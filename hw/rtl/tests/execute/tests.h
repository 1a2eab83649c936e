// SPDX-License-Identifier: Apache-2.0
// Checks of the execute unit's testbench; a failed check prints itself and makes the program fail.
#ifndef HW_RTL_TESTS_EXECUTE_TESTS_H
#define HW_RTL_TESTS_EXECUTE_TESTS_H

#include <string>

#include "bench.h"

void check(bool good, const std::string &test, const std::string &what);
void check_equal(const std::string &test, const std::string &what, int found, int wanted);

void test_timing();
// Random well-formed programs in every mode; `programs` of them.
void test_random(int programs);

#endif
