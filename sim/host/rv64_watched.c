// SPDX-License-Identifier: Apache-2.0
// The interpreter without timing whose loads and stores are told to the port (host_port.touch).
#include <string.h>

#include "sim/host/rv64_alu.h"
#include "sim/host/rv64_fp.h"

#define EXEC rv64_run_watched
#define HOOK_BEGIN
#define HOOK_END
#define HOOK_ISSUE(op, name, format, class)
#define HOOK_ACCESS(address, size, stores) h->config.port.touch(h->config.port.context, PC, (address), (size), (stores))
#define HOOK_JUMP(to)
#define HOOK_FALL()
#define HOOK_RESTART(to)
#define HOOK_FLUSH()
#define HOOK_LAND()
#define HOOK_SYNC()
#define HOOK_COMMAND(op, returns) rv64_port_command(h, op, PC, (returns))
#define HOOK_FENCE() rv64_port_fence(h)
#include "sim/host/rv64_exec.inc"
