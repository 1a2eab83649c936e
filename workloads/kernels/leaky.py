# Y = leaky(scale * X W), all int8: negative results times a slope from 0 to 1. The store unit has one scale: results of
# either sign are rounded for themselves and added, one of the two being 0. X is M x K, W is K x N.
from weft import *


@jit
def leaky(x_ptr: int8, w_ptr: int8, y_ptr: int8, M, K, N, scale: float, slope: float = 0.125, ROWS: constexpr = 16):
    m = program_id(0) * ROWS
    x = make_block_ptr(x_ptr, (M, K), (K, 1), (m, 0), (ROWS, K), (1, 0))
    w = make_block_ptr(w_ptr, (K, N), (N, 1), (0, 0), (K, N), (1, 0))
    y = make_block_ptr(y_ptr, (M, N), (N, 1), (m, 0), (ROWS, N), (1, 0))
    s = dot(load(x, boundary_check=(0,)), load(w))
    above = maximum(s * scale, 0).to(int8)
    below = maximum((s * (-scale * slope)).to(int8), 0)
    store(y, (above + below * -1).to(int8), boundary_check=(0,))


grid = lambda META: (cdiv(M, META["ROWS"]),)
