// The Verilated module as the C testbenches see it: inputs of a cycle in, outputs of the same cycle out, then the
// clock.
#ifndef HW_RTL_TESTS_FRONT_DUT_H
#define HW_RTL_TESTS_FRONT_DUT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// loop_matmul or loop_conv. Classes: 0 load, 1 execute, 2 store.
typedef struct loop_pins {
  bool in_valid;
  uint8_t funct;
  uint64_t rs1, rs2;
  bool out_ready;
  uint8_t completed[3];
  // outputs
  bool in_ready, out_valid, from_loop, busy;
  uint8_t out_funct;
  uint64_t out_rs1, out_rs2;
} loop_pins;

typedef struct loop_dut loop_dut;
loop_dut *loop_create(void);  // after reset
void loop_destroy(loop_dut *dut);
void loop_cycle(loop_dut *dut, loop_pins *pins);

#ifdef __cplusplus
}
#endif
#endif
