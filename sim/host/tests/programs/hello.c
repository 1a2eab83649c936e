// SPDX-License-Identifier: Apache-2.0
// With the C library: formatted output of integers and floats, both streams, an exit code.
#include <math.h>
#include <stdio.h>

int main(void) {
  volatile double two = 2.0;
  volatile float third = 1.0f / 3.0f;
  printf("root %.15f third %.9g hex %a\n", sqrt(two), (double)third, two / 3.0);
  printf("sin %.15f %d %lld\n", sin(two), -42, 1234567890123456789ll);
  return 7;
}
