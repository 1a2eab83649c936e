// SPDX-License-Identifier: Apache-2.0
// `weft compile NET.onnx -o NET.elf`.
#ifndef CLI_COMPILE_NETWORK_H
#define CLI_COMPILE_NETWORK_H

#include "cli/network_args.h"

// Writes the ELF (`output` ends in .elf), or the steps as text (.steps, or NULL: to stdout).
cli_exit compile_network(const cli_common *common, const network_args *args, const char *path, const char *output);

#endif
