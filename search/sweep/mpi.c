// SPDX-License-Identifier: Apache-2.0
// Who is who among the ranks, by MPI: see mpi.h.
#include "search/sweep/mpi.h"

#include <mpi.h>

sweep_mpi_begin sweep_mpi_begin_ranks;
sweep_mpi_share sweep_mpi_share_bytes;
sweep_mpi_end sweep_mpi_end_ranks;

void sweep_mpi_begin_ranks(int *rank, int *ranks) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, ranks);
}

void sweep_mpi_share_bytes(void *bytes, size_t size) { MPI_Bcast(bytes, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD); }

void sweep_mpi_end_ranks(void) { MPI_Finalize(); }
