/* The spelling of doubles, against a table that MRI made. A spec compares millions more with the Ruby that runs it. */
#include "check.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static double from_bits(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof number);
    return number;
}

static void spells_like_mri(const test_case *c)
{
    char text[SKV_DOUBLE_MAX];
    double number = from_bits(strtoull(c->field[0], NULL, 16));
    size_t len = skv_format_double(number, text);

    CHECK_STR(text, c->field[1]);
    CHECK(len == c->len[1]);
    if (len)
        CHECK(strtod(text, NULL) == number);
}

static void any_double_reads_back(void)
{
    uint64_t state = 88172645463325252;
    char text[SKV_DOUBLE_MAX];
    int wrong = 0;

    for (int i = 0; i < 200000; i++) {
        double number;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        /* Each exponent, except that of the infinities. */
        number = from_bits((state & ~(UINT64_C(0x7FF) << 52)) | (uint64_t)(i % 2047) << 52);
        wrong += skv_format_double(number, text) >= sizeof text || strtod(text, NULL) != number;
    }
    CHECK(wrong == 0);
}

static void spelling_ignores_the_locale(void)
{
    char text[SKV_DOUBLE_MAX];

    CHECK(setlocale(LC_ALL, "de_DE.UTF-8") != NULL);
    skv_format_double(1.5, text);
    CHECK_STR(text, "1.5");
    setlocale(LC_ALL, "C");
}

int main(void)
{
    each_case("doubles.tsv", spells_like_mri);
    any_double_reads_back();
    spelling_ignores_the_locale();
    return check_summary("double");
}
