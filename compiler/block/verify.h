// SPDX-License-Identifier: Apache-2.0
// The second part of block_verify, for programs that passed the first.
#ifndef COMPILER_BLOCK_VERIFY_H
#define COMPILER_BLOCK_VERIFY_H

#include "compiler/block/block.h"

bool block_verify_flow(const block_program *program, wf_diag *diag);

#endif
