// SPDX-License-Identifier: Apache-2.0
// What the values of enumerated parameters mean, SECTION_NAME_VALUE as in the array description.
// Constants rather than an enumeration: Verilator 5.006 does not survive a module parameter that is
// an item of a package's enumeration, and yosys 0.23 has no cast to make a number of it.
// verilator lint_off UNUSED
package weft_pkg;
  localparam int MESH_DATAFLOW_WS = 0;    // weight-stationary
  localparam int MESH_DATAFLOW_OS = 1;    // output-stationary
  localparam int MESH_DATAFLOW_BOTH = 2;

  localparam int SCRATCHPAD_READ_PIPELINE_FIXED = 0;
  localparam int SCRATCHPAD_READ_PIPELINE_QUEUE = 1;

  localparam int STORE_ORDER_ISSUED = 0;     // a store waits until older stores have issued
  localparam int STORE_ORDER_COMPLETED = 1;  // ... have completed

  localparam int SYNC_BY_STATION = 0;
  localparam int SYNC_BY_TOKENS = 1;
endpackage
// verilator lint_on UNUSED
