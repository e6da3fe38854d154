/*
 * double.c - the shortest digits that read back as a double, spelled as MRI's Float#to_s spells them.
 *
 * Most numbers in documents have few digits: find_short() finds these by trial. The C library rounds the rest to 15, 16
 * and 17 digits, and reads them back.
 */
#include "base/ascii.h"
#include "simpkv.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 17 /* no double needs more */

/* 0.d1d2d3... * 10^point */
typedef struct digits {
    char digit[DIGITS_MAX + 1];
    int count;
    int point;
} digits;

static const double decimal_power[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/* ---- By trial ---- */

static void strip_zeros(digits *result)
{
    while (result->count > 1 && result->digit[result->count - 1] == '0')
        result->count--;
}

static void set_digits(digits *result, uint64_t number, int decimals)
{
    char reversed[20];
    int count = 0;

    do
        reversed[count++] = (char)('0' + number % 10);
    while (number /= 10);
    result->point = count - decimals;
    result->count = 0;
    for (int i = count; i-- > 0;)
        result->digit[result->count++] = reversed[i];
    strip_zeros(result);
}

/*
 * Looks for whole / 10^n that is `number`. A double holds both exactly, so that the correctly rounded quotient is the
 * number that these digits read back as. With at most 15 digits, no other digits of that length read back as it.
 */
static bool find_short(double number, digits *result)
{
    if (!(number > 1e-5 && number < 1e15))
        return false;
    for (int n = 0; n <= 15; n++) {
        double scaled = number * decimal_power[n];
        uint64_t whole;

        if (scaled >= 1e15 - 1)
            return false;
        whole = (uint64_t)(scaled + 0.5);
        if ((double)whole / decimal_power[n] == number) {
            set_digits(result, whole, n);
            return true;
        }
    }
    return false;
}

/* ---- With the C library ---- */

/* Rounds to `count` digits. Passes over the decimal point, which the locale decides. */
static void round_to(double number, int count, digits *result)
{
    char text[64];
    const char *at = text;

    snprintf(text, sizeof text, "%.*e", count - 1, number);
    for (result->count = 0; *at != 'e'; at++)
        if (skv_ascii_is_digit(*at))
            result->digit[result->count++] = *at;
    result->point = atoi(at + 1) + 1;
}

static void add_one(digits *result)
{
    while (result->count > 0 && result->digit[result->count - 1] == '9')
        result->count--;
    if (result->count == 0) {
        result->digit[result->count++] = '1';
        result->point++;
    } else {
        result->digit[result->count - 1]++;
    }
}

static bool reads_back_as(double number, const digits *d)
{
    char text[32];

    snprintf(text, sizeof text, "%.*se%d", d->count, d->digit, d->point - d->count);
    return strtod(text, NULL) == number;
}

/* If any digits of a length read back as the number, the nearest ones do; except those below a power of two, whose
 * neighbour below is nearer than the one above: then the next ones may. */
static bool find_of_length(double number, int count, digits *result)
{
    int exponent;

    round_to(number, count, result);
    if (reads_back_as(number, result))
        return true;
    if (frexp(number, &exponent) != 0.5)
        return false;
    add_one(result);
    return reads_back_as(number, result);
}

/* A double keeps 15 digits, unless it is subnormal: fewer digits that read back as it are these without zeros. */
static void find_shortest(double number, digits *result)
{
    int count = number < DBL_MIN ? 1 : DBL_DIG;

    while (count < DIGITS_MAX && !find_of_length(number, count, result))
        count++;
    if (count == DIGITS_MAX)
        round_to(number, count, result);
    strip_zeros(result);
}

/* ---- Spelling ---- */

static char *put(char *out, const char *bytes, int count)
{
    memcpy(out, bytes, (size_t)count);
    return out + count;
}

static char *put_zeros(char *out, int count)
{
    memset(out, '0', (size_t)count);
    return out + count;
}

static char *put_fixed(char *out, const digits *d)
{
    if (d->point <= 0) {
        out = put(out, "0.", 2);
        out = put_zeros(out, -d->point);
        return put(out, d->digit, d->count);
    }
    if (d->count <= d->point) {
        out = put(out, d->digit, d->count);
        out = put_zeros(out, d->point - d->count);
        return put(out, ".0", 2);
    }
    out = put(out, d->digit, d->point);
    *out++ = '.';
    return put(out, d->digit + d->point, d->count - d->point);
}

static char *put_scientific(char *out, const digits *d)
{
    int exponent = d->point - 1;

    *out++ = d->digit[0];
    *out++ = '.';
    out = d->count > 1 ? put(out, d->digit + 1, d->count - 1) : put_zeros(out, 1);
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    exponent = exponent < 0 ? -exponent : exponent;
    if (exponent >= 100)
        *out++ = (char)('0' + exponent / 100);
    *out++ = (char)('0' + exponent / 10 % 10);
    *out++ = (char)('0' + exponent % 10);
    return out;
}

size_t skv_format_double(double number, char *out)
{
    char *start = out;
    bool fixed;
    digits d;

    *out = '\0';
    if (!isfinite(number))
        return 0;
    if (signbit(number))
        *out++ = '-';
    number = fabs(number);
    if (number == 0)
        set_digits(&d, 0, 0);
    else if (!find_short(number, &d))
        find_shortest(number, &d);
    fixed = -4 < d.point && (d.point <= 15 || d.count > d.point);
    out = fixed ? put_fixed(out, &d) : put_scientific(out, &d);
    *out = '\0';
    return (size_t)(out - start);
}
