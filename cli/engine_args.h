// SPDX-License-Identifier: Apache-2.0
// The engine that a run names.
#ifndef CLI_ENGINE_ARGS_H
#define CLI_ENGINE_ARGS_H

#include "cli/cli.h"

// False: there is none of the name.
bool engine_find(const char *name, weft_engine *engine);
// The same with what is there on stderr.
bool engine_named(const char *name, weft_engine *engine);
// Whether the engine knows what its cycles depend on, if that is asked for; else the reason was reported.
bool engine_knows(const weft_engine *engine, bool sensitivity);

#endif
