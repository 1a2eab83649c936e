// SPDX-License-Identifier: Apache-2.0
// The text of schema.sql; made in the build.
#ifndef SEARCH_SCHEDULES_SCHEMA_H
#define SEARCH_SCHEDULES_SCHEMA_H

extern const char schedules_schema[];

#endif
