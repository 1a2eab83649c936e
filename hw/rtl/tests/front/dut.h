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

// reservation_station. Classes: 0 load, 1 execute, 2 store.
enum { RS_CLASSES = 3 };
typedef struct rs_pins {
  bool alloc_valid, from_matmul, from_conv;
  uint8_t funct;
  uint64_t rs1, rs2;
  bool issue_ready[RS_CLASSES], done_valid[RS_CLASSES];
  uint8_t done_id[RS_CLASSES];
  bool solitary_preload;
  // outputs
  bool alloc_ready, busy, issue_valid[RS_CLASSES], done_ready[RS_CLASSES];
  uint8_t issue_funct[RS_CLASSES], issue_id[RS_CLASSES], count[RS_CLASSES];
  uint8_t matmul_completed[RS_CLASSES], conv_completed[RS_CLASSES];
  uint64_t issue_rs1[RS_CLASSES], issue_rs2[RS_CLASSES];
  bool trace_alloc, trace_issue[RS_CLASSES], trace_done;
  uint32_t trace_issue_index[RS_CLASSES], trace_done_index;
} rs_pins;

typedef struct rs_dut rs_dut;
rs_dut *rs_create(void);  // after reset
void rs_destroy(rs_dut *dut);
void rs_eval(rs_dut *dut, rs_pins *pins);  // outputs of this cycle
void rs_clock(rs_dut *dut);

#ifdef __cplusplus
}
#endif
#endif
