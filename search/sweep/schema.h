// SPDX-License-Identifier: Apache-2.0
// The text of schema.sql; made in the build.
#ifndef SEARCH_SWEEP_SCHEMA_H
#define SEARCH_SWEEP_SCHEMA_H

extern const char sweep_schema[];

#endif
