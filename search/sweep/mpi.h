// SPDX-License-Identifier: Apache-2.0
// The part of a sweep that calls MPI, behind dlopen: libweft_sweep_mpi.so.
#ifndef SEARCH_SWEEP_MPI_H
#define SEARCH_SWEEP_MPI_H

#include <stddef.h>

typedef void sweep_mpi_begin(int *rank, int *ranks);
typedef void sweep_mpi_share(void *bytes, size_t size);  // rank 0's to all
typedef void sweep_mpi_end(void);

#endif
