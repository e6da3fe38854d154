/*
 * double.c - the shortest digits that read back as a double, spelled as MRI's Float#to_s spells them. printf() depends
 * on the locale, and does not find the shortest digits.
 *
 * Most numbers in documents have few digits: find_short() finds these by trial. The rest go through exact arithmetic on
 * big numbers: Steele and White's free-format algorithm, with the refinements and the rounding of mode 0 of David Gay's
 * dtoa, which MRI uses.
 */
#include "simpkv.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
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
    while (result->count > 1 && result->digit[result->count - 1] == '0')
        result->count--;
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

/* ---- By exact arithmetic ---- */

/* A natural number: the least significant word comes first, and the last word is not 0. The largest that occurs, 10^324
 * times a mantissa, doubled and aligned, is below 2^1170. */
#define BIG_WORDS 40

typedef struct big {
    uint32_t word[BIG_WORDS];
    int count;
} big;

static void big_set(big *b, uint64_t value)
{
    b->count = 0;
    for (; value; value >>= 32)
        b->word[b->count++] = (uint32_t)value;
}

static void big_multiply(big *b, uint32_t factor)
{
    uint64_t carry = 0;

    for (int i = 0; i < b->count; i++) {
        carry += (uint64_t)b->word[i] * factor;
        b->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        b->word[b->count++] = (uint32_t)carry;
}

static void big_multiply_power_of_five(big *b, int exponent)
{
    for (; exponent >= 13; exponent -= 13)
        big_multiply(b, 1220703125);
    for (; exponent > 0; exponent--)
        big_multiply(b, 5);
}

static void big_shift(big *b, int bits)
{
    int words = bits / 32, rest = bits % 32;

    if (!b->count || bits <= 0)
        return;
    memmove(b->word + words, b->word, (size_t)b->count * sizeof *b->word);
    memset(b->word, 0, (size_t)words * sizeof *b->word);
    b->count += words;
    if (rest)
        big_multiply(b, (uint32_t)1 << rest);
}

static int big_compare(const big *a, const big *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count; i-- > 0;)
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

/* Returns a negative number, 0 or a positive number if a + b is below, at or above c. */
static int big_compare_sum(const big *a, const big *b, const big *c)
{
    big sum = a->count < b->count ? *b : *a;
    const big *other = a->count < b->count ? a : b;
    uint64_t carry = 0;

    for (int i = 0; i < sum.count; i++) {
        carry += (uint64_t)sum.word[i] + (i < other->count ? other->word[i] : 0);
        sum.word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        sum.word[sum.count++] = (uint32_t)carry;
    return big_compare(&sum, c);
}

/* Subtracts factor * b, which must not exceed a. */
static void big_subtract(big *a, const big *b, uint32_t factor)
{
    uint64_t carry = 0, borrow = 0;

    for (int i = 0; i < a->count; i++) {
        uint64_t difference;
        carry += i < b->count ? (uint64_t)b->word[i] * factor : 0;
        difference = (uint64_t)a->word[i] - (uint32_t)carry - borrow;
        a->word[i] = (uint32_t)difference;
        borrow = difference >> 63;
        carry >>= 32;
    }
    while (a->count && a->word[a->count - 1] == 0)
        a->count--;
}

/* Returns the quotient, which must be below 10, and leaves the remainder. */
static int big_divide(big *a, const big *b)
{
    uint32_t quotient;

    if (a->count < b->count)
        return 0;
    /* scale() shifts b so that its highest word has 28 bits: the estimate is low by at most 1. */
    quotient = a->word[b->count - 1] / (b->word[b->count - 1] + 1);
    big_subtract(a, b, quotient);
    if (big_compare(a, b) >= 0) {
        big_subtract(a, b, 1);
        quotient++;
    }
    return (int)quotient;
}

/* The number as rest / unit, a fraction below 10: its integer part is the first digit. low / unit and high / unit are
 * the distances to the midpoints between the number and its neighbours. */
typedef struct fraction {
    big rest, unit, low, high;
    bool even; /* the midpoints read back as this number, too */
    int point;
} fraction;

/* Finds mantissa * 2^exponent. Sets *uneven if the neighbour below is nearer than the one above. */
static void decompose(double number, uint64_t *mantissa, int *exponent, bool *uneven)
{
    uint64_t bits;
    int biased;

    memcpy(&bits, &number, sizeof bits);
    biased = (int)(bits >> 52 & 0x7FF);
    *mantissa = bits & (((uint64_t)1 << 52) - 1);
    *uneven = *mantissa == 0 && biased > 1;
    if (biased)
        *mantissa |= (uint64_t)1 << 52;
    *exponent = (biased ? biased : 1) - 1075;
}

static int bit_length(uint64_t value)
{
    int bits = 0;

    for (; value; value >>= 1)
        bits++;
    return bits;
}

/* Returns floor(log10(number)), or one more: the fraction is near enough to log10(2) for every exponent of a double. */
static int guess_power(uint64_t mantissa, int exponent)
{
    int bits = bit_length(mantissa) + exponent - 1;

    return (bits * 315653 >> 20) + 1;
}

static void scale(fraction *f, double number)
{
    uint64_t mantissa;
    int exponent, power, twos, unit_twos, shift;
    bool uneven;

    decompose(number, &mantissa, &exponent, &uneven);
    power = guess_power(mantissa, exponent);
    f->even = !(mantissa & 1);
    big_set(&f->rest, mantissa);
    big_set(&f->unit, 1);
    big_set(&f->low, 1);
    big_multiply_power_of_five(power < 0 ? &f->rest : &f->unit, power < 0 ? -power : power);
    if (power < 0)
        big_multiply_power_of_five(&f->low, -power);
    /* Powers of two, without their common factor: rest has one more than low, because a midpoint is half a step away.
     */
    twos = (exponent > 0 ? exponent : 0) + (power < 0 ? -power : 0);
    unit_twos = (exponent < 0 ? -exponent : 0) + (power > 0 ? power : 0) + 1 + uneven;
    shift = twos < unit_twos ? twos : unit_twos;
    twos -= shift;
    unit_twos -= shift;
    /* The highest word of unit gets 28 bits, for big_divide(). */
    shift = (28 + 32 - (bit_length(f->unit.word[f->unit.count - 1]) + unit_twos) % 32) % 32;
    big_shift(&f->unit, unit_twos + shift);
    big_shift(&f->rest, twos + shift + 1 + uneven);
    big_shift(&f->low, twos + shift);
    f->high = f->low;
    big_shift(&f->high, uneven);
    f->point = power + 1;
    if (big_compare(&f->rest, &f->unit) < 0) {
        f->point--;
        big_multiply(&f->rest, 10);
        big_multiply(&f->low, 10);
        big_multiply(&f->high, 10);
    }
}

static void round_up(digits *result)
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

/* Returns true if the remainder is nearer to the next digit. At half-way, the even digit wins. */
static bool nearer_to_next(const fraction *f, int digit)
{
    int half = big_compare_sum(&f->rest, &f->rest, &f->unit);

    return half > 0 || (half == 0 && digit % 2 == 1);
}

/* Puts digits until the rest is within the distance in which every number reads back as this one. */
static void find_exact(double number, digits *result)
{
    fraction f;

    scale(&f, number);
    result->count = 0;
    result->point = f.point;
    for (;;) {
        int digit = big_divide(&f.rest, &f.unit);
        int below = big_compare(&f.rest, &f.low);
        int above = big_compare_sum(&f.rest, &f.high, &f.unit);
        bool can_stop = below < 0 || (below == 0 && f.even);
        bool can_round_up = above > 0 || (above == 0 && f.even);

        result->digit[result->count++] = (char)('0' + digit);
        if (can_stop || can_round_up) {
            if (can_round_up && (!can_stop || (f.rest.count && nearer_to_next(&f, digit))))
                round_up(result);
            return;
        }
        big_multiply(&f.rest, 10);
        big_multiply(&f.low, 10);
        big_multiply(&f.high, 10);
    }
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
        find_exact(number, &d);
    fixed = -4 < d.point && (d.point <= 15 || d.count > d.point);
    out = fixed ? put_fixed(out, &d) : put_scientific(out, &d);
    *out = '\0';
    return (size_t)(out - start);
}
