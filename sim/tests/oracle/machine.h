// SPDX-License-Identifier: Apache-2.0
// The oracle machine: executes primitive commands one element at a time on plain int arrays, in program order.
// It is an engine (without timing) so that the suite drives it like any other; LOOP commands are illegal here, they are
// checked against the mathematics instead. Written from the instruction-set description alone: it shares no code with
// an engine except the structs of hw/array.h and the byte store.
#ifndef SIM_TESTS_ORACLE_MACHINE_H
#define SIM_TESTS_ORACLE_MACHINE_H

#include "sim/engine.h"

extern const sim_engine_ops oracle_machine_ops;

#endif
