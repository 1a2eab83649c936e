# Y = X, N x P x Q rows of K bytes each, which need not lie one behind the other: x_n, x_p and x_q are the bytes from one
# row of X to the next along N, P and Q, and y_n, y_p and y_q those of Y.
from weft import *


@jit
def copy(x_ptr: int8, y_ptr: int8, N, P, Q, K, x_n, x_p, x_q, y_n, y_p, y_q, BLOCK_N: constexpr = 1,
         BLOCK_P: constexpr = 1, BLOCK_Q: constexpr = 64, BLOCK_K: constexpr = 64):
    pid_n = program_id(2) // cdiv(P, BLOCK_P)
    pid_p = program_id(2) % cdiv(P, BLOCK_P)
    n, p, q, k = pid_n * BLOCK_N, pid_p * BLOCK_P, program_id(0) * BLOCK_Q, program_id(1) * BLOCK_K
    x = make_block_ptr(x_ptr, (N, P, Q, K), (x_n, x_p, x_q, 1), (n, p, q, k), (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K),
                       (3, 2, 1, 0))
    y = make_block_ptr(y_ptr, (N, P, Q, K), (y_n, y_p, y_q, 1), (n, p, q, k), (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K),
                       (3, 2, 1, 0))
    store(y, load(x, boundary_check=(0, 1, 2, 3)), boundary_check=(0, 1, 2, 3))


grid = lambda META: (cdiv(Q, META["BLOCK_Q"]), cdiv(K, META["BLOCK_K"]),
                     cdiv(N, META["BLOCK_N"]) * cdiv(P, META["BLOCK_P"]))
