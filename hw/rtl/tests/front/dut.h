// SPDX-License-Identifier: Apache-2.0
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

// weft_accel. A read or write burst is described by its first beat; data beats have up to ACCEL_BUS_BYTES.
enum { ACCEL_BUS_BYTES = 128 };
typedef struct accel_pins {
  bool cmd_valid, cmd_xd, resp_ready;
  uint8_t funct, rd;
  uint64_t rs1, rs2;
  bool ar_ready, r_valid, r_last, aw_ready, w_ready, b_valid;
  uint32_t r_id, b_id;
  uint8_t r_data[ACCEL_BUS_BYTES];
  // outputs
  bool cmd_ready, resp_valid, busy, ar_valid, r_ready, aw_valid, w_valid, w_last, b_ready;
  uint64_t resp_data, ar_addr, aw_addr;
  uint32_t ar_id, aw_id;
  uint8_t resp_rd, ar_len, ar_size, aw_len, aw_size, ar_burst, aw_burst;
  uint8_t w_data[ACCEL_BUS_BYTES], w_strb[ACCEL_BUS_BYTES / 8];
  bool alloc, issue[RS_CLASSES], done;
  uint32_t issue_index[RS_CLASSES], done_index;
} accel_pins;

typedef struct accel_dut accel_dut;
accel_dut *accel_create(void);  // after reset
void accel_destroy(accel_dut *dut);
void accel_eval(accel_dut *dut, accel_pins *pins);
void accel_clock(accel_dut *dut);

#ifdef __cplusplus
}
#endif
#endif
