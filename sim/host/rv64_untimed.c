// The interpreter without timing: one cycle per instruction, plus what the port adds.
#include <string.h>

#include "sim/host/rv64_alu.h"
#include "sim/host/rv64_fp.h"

#define EXEC rv64_run_untimed
#define HOOK_ISSUE(op, name, format, class)
#define HOOK_ACCESS(address, size, stores)
#define HOOK_JUMP(to)
#include "sim/host/rv64_exec.inc"
