// SPDX-License-Identifier: Apache-2.0
// What leaves Weft for other tools: the RTL of one array with its parameters, and the same array in the forms that
// Gemmini's generator, Gemmini's programs, Timeloop, AccelForge, STONNE, ONNXim, FuseSoC and readers of IP-XACT take.
// Every text names the array and its hash.
#ifndef HW_EXPORT_EXPORT_H
#define HW_EXPORT_EXPORT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "hw/array.h"

// ---- single files. False: writing failed.

// A GemminiArrayConfig of Gemmini v0.7.1; what it cannot say stands in a comment at its top.
bool hw_export_scala(const hw_array *array, FILE *out);

// gemmini_params.h: the constants, types and arithmetic that programs written for Gemmini include.
bool hw_export_gemmini_header(const hw_array *array, FILE *out);

// A Timeloop architecture, version 0.3.
bool hw_export_timeloop(const hw_array *array, FILE *out);

// The same of version 0.4, with constraints of mappings.
bool hw_export_timeloop_v4(const hw_array *array, FILE *out);

// Energies of its components as Accelergy writes them (an ERT).
bool hw_export_accelergy(const hw_array *array, FILE *out);

// An architecture of AccelForge.
bool hw_export_accelforge(const hw_array *array, FILE *out);

// A configuration of STONNE: an output-stationary mesh.
bool hw_export_stonne(const hw_array *array, FILE *out);

// A configuration of ONNXim: one core.
bool hw_export_onnxim(const hw_array *array, FILE *out);

// weft.core: the RTL as a core of FuseSoC (CAPI2), in the order of weft.f.
bool hw_export_fusesoc(const hw_array *array, FILE *out);

// weft.xml: the same as a component of IP-XACT (IEEE 1685-2014), with ports, bus and parameters.
bool hw_export_ipxact(const hw_array *array, FILE *out);

// array.yaml: the canonical description with the hash in a comment.
bool hw_export_yaml(const hw_array *array, FILE *out);

// array.json: {"generator", "name", "description", "hash", SECTION: {KEY: value}, "derived": {KEY: value}}.
cJSON *hw_export_json(const hw_array *array);
extern const char hw_export_generator[];  // the value of "generator"

// ---- what Gemmini's generator cannot express

typedef struct hw_export_limit {
  char parameter[2 * HW_NAME_MAX];  // "mesh.zero_skip"
  char value[32];                   // that the array has
  const char *reason;
} hw_export_limit;

enum { HW_EXPORT_LIMITS_MAX = 64 };

// The parameters whose value is lost in the Scala configuration; returns how many.
size_t hw_export_limits(const hw_array *array, hw_export_limit limits[HW_EXPORT_LIMITS_MAX]);

// The Scala field that a parameter is written to; NULL: none.
const char *hw_export_scala_field(const hw_param *param);

// ---- the whole set

// Only rtl/ and weft.f, into an existing directory.
bool hw_export_write_rtl(const hw_array *array, const char *directory, wf_diag *diag);

// Writes everything into `directory`, which is created; README.txt says what each file is. Refuses a directory that
// holds anything unless an earlier call wrote it; of that call's files, the ones that this call does not write are
// removed. Each value that Gemmini's generator cannot express is a warning. False after an error was reported. *files
// (may be NULL): the number of files written.
bool hw_export_write(const hw_array *array, const char *directory, size_t *files, wf_diag *diag);

// One file of the set, by its path in the directory. False: it has none of that path, or writing failed.
bool hw_export_file(const hw_array *array, const char *path, FILE *out);

#endif
