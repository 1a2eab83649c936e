# Y = scale * (conv(X, W) + bias): X is N x L x C, W is R x C x K, Y is N x P x K, all int8; bias has K int32. A
# convolution of images of one column. P is (L + 2 padding - dilation (R - 1) - 1) // stride + 1.
from weft import *


@jit
def conv1d(x_ptr: int8, w_ptr: int8, bias_ptr: int32, y_ptr: int8, N, L, C, K, R: constexpr = 3, stride=1, padding=0,
           dilation=1, scale: float = 1.0, BLOCK_N: constexpr = 1, BLOCK_P: constexpr = 64, BLOCK_K: constexpr = 64,
           BLOCK_C: constexpr = 64):
    P = (L + 2 * padding - dilation * (R - 1) - 1) // stride + 1
    pid_p = program_id(0)
    pid_k = program_id(1)
    pid_n = program_id(2)
    n, p, k0 = pid_n * BLOCK_N, pid_p * BLOCK_P, pid_k * BLOCK_K
    acc = zeros((BLOCK_N, BLOCK_P, 1, BLOCK_K), int32)
    for r in range(R):
        for c in range(0, C, BLOCK_C):
            x = make_block_ptr(x_ptr, (N, L, 1, C), (L * C, C, C, 1), (n, p * stride - padding + r * dilation, 0, c),
                               (BLOCK_N, BLOCK_P, 1, BLOCK_C), (3, 2, 1, 0), steps=(1, stride, 1, 1))
            w = make_block_ptr(w_ptr + r * C * K, (C, K), (K, 1), (c, k0), (BLOCK_C, BLOCK_K), (1, 0))
            acc += dot(load(x, boundary_check=(0, 1, 3)), load(w, boundary_check=(0, 1)))
    bias = load(make_block_ptr(bias_ptr, (K,), (1,), (k0,), (BLOCK_K,), (0,)), boundary_check=(0,))
    acc += bias[None, None, None, :]
    y = make_block_ptr(y_ptr, (N, P, 1, K), (P * K, K, K, 1), (n, p, 0, k0), (BLOCK_N, BLOCK_P, 1, BLOCK_K),
                       (3, 2, 1, 0))
    store(y, (acc * scale).to(int8), boundary_check=(0, 1, 3))


grid = lambda META: (
    cdiv((L + 2 * padding - dilation * (R - 1) - 1) // stride + 1, META["BLOCK_P"]),
    cdiv(K, META["BLOCK_K"]),
    cdiv(N, META["BLOCK_N"]),
)
