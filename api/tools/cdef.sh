#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the declarations of libweft's header as cffi reads them: without comments, preprocessor and attributes.
# usage: cdef.sh weft.h >weft.cdef
set -eu
sed -e 's|//.*||; s/^WEFT_API //; /^#/d; /^extern "C"/d; /^}$/d; s/[[:space:]]*$//' "$1" | cat -s
