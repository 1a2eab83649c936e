// SPDX-License-Identifier: Apache-2.0
// The joint search of the whole machine for several networks: its answer as text, JSON and trace.
#ifndef API_JOINT_H
#define API_JOINT_H

#include <cjson/cJSON.h>

#include "api/private.h"
#include "search/codesign/codesign.h"

// ---- layers of the answer on its hardware (codesign_rtl.c)

typedef struct api_joint_hardware_layer {
  size_t layer;          // of the result
  uint64_t cycles, rtl;  // as the search says; as the Verilated hardware takes
  uint64_t wrong;        // bytes that are not the oracle's
  double seconds;
} api_joint_hardware_layer;

typedef struct api_joint_hardware {
  api_joint_hardware_layer *layers;
  size_t count;
  size_t left;  // layers that would take longer than a minute, which are left out
} api_joint_hardware;

// Builds the answer's hardware with Verilator and runs so many of its layers on it, with their mappings: the one with
// the fewest cycles, and others up to the longest that takes less than a minute; tells the session. False
// after an error was reported; release in any case.
bool api_joint_hardware_check(const codesign_result *r, unsigned layers, weft_session *session,
                              api_joint_hardware *hardware);
void api_joint_hardware_release(api_joint_hardware *hardware);
bool api_joint_hardware_agrees(const api_joint_hardware *h);  // in cycles and bytes
void api_joint_hardware_print(const api_joint_hardware *h, const codesign_result *r, FILE *out);
cJSON *api_joint_hardware_json(const api_joint_hardware *h, const codesign_result *r);

// ---- all of it

typedef struct api_joint_answer {
  const codesign_options *options;
  const codesign_result *result;
  const api_joint_hardware *hardware;  // NULL: not checked
} api_joint_answer;

// A network on the array of the answer, as `weft sim` runs it; NULL: it is a table.
const codesign_whole *api_joint_whole(const api_joint_answer *a, size_t number);
void api_joint_print(const api_joint_answer *a, FILE *out);
cJSON *api_joint_json(const api_joint_answer *a);
void api_joint_trace(const api_joint_answer *a, FILE *out);  // CSV

#endif
