# SPDX-License-Identifier: Apache-2.0
"""The words of the kernel language, for files whose kernels are functions of Python (docs/kernel-language.md).

Python never calls these functions: a kernel's source goes to the compiler of the library. The names are here so that
annotations mean something and editors know them."""


class _Word:
    def __init__(self, name):
        self.name = name

    def __call__(self, *_arguments, **_options):
        raise TypeError(f"{self.name} is a word of the kernel language; call the kernel instead")

    def __repr__(self):
        return self.name


_NAMES = ("int8", "int32", "float32", "constexpr", "program_id", "make_block_ptr", "load", "store", "zeros", "dot",
          "maximum", "cdiv", "advance", "static_assert")
for _name in _NAMES:
    globals()[_name] = _Word(_name)
__all__ = list(_NAMES)
