# O[h] = softmax(scale * Q[h] K[h]^T) V[h] for each of H heads in one kernel, as in a decoder: the last M of L tokens ask,
# and each sees itself and those before it. All int8: Q[h] is M x D, K[h] is L x D, V[h] is L x N. The weights, 127
# levels and 0 for later tokens, lie in main memory between the two products. The heads of Q, K and V stand one behind
# the other, those of O side by side (O is M x (H N)). The array needs the normaliser (transformer-16).
import triton
import triton.language as tl


@triton.jit
def attention_causal(q_ptr: tl.int8, k_ptr: tl.int8, v_ptr: tl.int8, o_ptr: tl.int8, H, M, L, D, N, scale: float,
                     out_scale: float = 1.0 / 127, ROWS: tl.constexpr = 16):
    m = tl.program_id(0) * ROWS
    h = tl.program_id(1)
    q = tl.make_block_ptr(q_ptr + h * M * D, (M, D), (D, 1), (m, 0), (ROWS, D), (1, 0))
    k = tl.make_block_ptr(k_ptr + h * L * D, (L, D), (D, 1), (0, 0), (L, D), (1, 0))
    v = tl.make_block_ptr(v_ptr + h * L * N, (L, N), (N, 1), (0, 0), (L, N), (1, 0))
    asking = m + tl.arange(0, ROWS) + (L - M)
    seen = tl.arange(0, L)
    s = tl.dot(tl.load(q, boundary_check=(0,)), tl.load(k).T) * scale
    s = tl.where(asking[:, None] >= seen[None, :], s, float("-inf"))
    e = tl.exp(s - tl.max(s, axis=1)[:, None])
    p = (e / tl.sum(e, axis=1)[:, None] * 127).to(tl.int8)
    o = tl.make_block_ptr(o_ptr + h * N, (M, N), (H * N, 1), (m, 0), (ROWS, N), (1, 0))
    tl.store(o, (tl.dot(p, tl.load(v)) * out_scale).to(tl.int8), boundary_check=(0,))


grid = lambda META: (triton.cdiv(M, META["ROWS"]), H)
