// SPDX-License-Identifier: Apache-2.0
// The reference engine: a bit-exact functional model of the instruction set for any array. It executes each command
// when it is pushed, in program order, and knows no time. See docs/ref-engine.md.
#ifndef SIM_REF_REF_H
#define SIM_REF_REF_H

#include "sim/engine.h"

extern const sim_engine_ops sim_ref_engine;

#endif
