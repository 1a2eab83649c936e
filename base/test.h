// What every unit test includes first: cmocka, and what cmocka needs before it.
#ifndef BASE_TEST_H
#define BASE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
