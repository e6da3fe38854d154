#include "secret/alphabet.h"

#include "base/ascii.h"

#include <math.h>
#include <string.h>

#define DIGITS "0123456789"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER "abcdefghijklmnopqrstuvwxyz"

const char *const skv_class_names[SKV_CLASSES] = {"digits", "upper", "lower", "special"};

static const skv_alphabet alphabets[] = {
    /* Letters and digits. 62 characters. */
    {"alphanumeric", DIGITS UPPER LOWER},
    /* Those that people can tell from each other: without 0, O and o, and without 1, I, i and l. 55 characters. */
    {"readable", "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz"},
    /* Those that need no escape in a shell and in a URI: letters, digits, '.' and '_'. 64 characters. */
    {"safe", DIGITS UPPER LOWER "._"},
    /* The printable characters of ASCII but the space. 94 characters. */
    {"symbols", DIGITS UPPER LOWER "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"},
    /* For number pads. 10 characters. */
    {"digits", DIGITS},
    /* Hexadecimal digits, with small letters. 16 characters. */
    {"hex", DIGITS "abcdef"},
};

static skv_class class_of(char c)
{
    if (skv_ascii_is_digit(c))
        return SKV_DIGITS;
    if (c >= 'A' && c <= 'Z')
        return SKV_UPPER;
    return c >= 'a' && c <= 'z' ? SKV_LOWER : SKV_SPECIAL;
}

bool skv_recipe_init(skv_recipe *recipe, const char *alphabet)
{
    *recipe = (skv_recipe){0};
    for (size_t i = 0; i < sizeof alphabets / sizeof *alphabets; i++)
        if (strcmp(alphabets[i].name, alphabet) == 0)
            recipe->alphabet = &alphabets[i];
    if (!recipe->alphabet)
        return false;
    for (const char *c = recipe->alphabet->characters; *c; c++, recipe->size++)
        recipe->of_class[class_of(*c)]++;
    return true;
}

bool skv_recipe_accepts(const skv_recipe *recipe, const char *password, size_t len)
{
    size_t has[SKV_CLASSES] = {0};
    bool accepts = true;

    for (size_t i = 0; i < len; i++)
        has[class_of(password[i])]++;
    for (skv_class type = 0; type < SKV_CLASSES; type++)
        accepts &= has[type] >= recipe->at_least[type];
    explicit_bzero(has, sizeof has);
    return accepts;
}

/* ---- The part of the texts that a recipe accepts ---- */

/* The classes take their characters in turn. open[n]: the probability that n characters are left for the next ones. */
typedef struct shares {
    double open[SKV_PASSWORD_MAX + 1];
    double log_factorial[SKV_PASSWORD_MAX + 1];
    size_t len;
} shares;

/* Returns the probability that `taken` of `left` characters are of a class whose share is `share`, from 0 to 1. */
static double binomial(const shares *s, size_t left, size_t taken, double share)
{
    double ways = s->log_factorial[left] - s->log_factorial[taken] - s->log_factorial[left - taken];

    return exp(ways + (double)taken * log(share) + (double)(left - taken) * log1p(-share));
}

/* A class takes `min` characters at least of those that are left. The loop goes upwards, so that open[] is read before
 * it is written: n characters stay left of n or more. */
static void take_class(shares *s, double share, size_t min)
{
    for (size_t stays = 0; stays <= s->len; stays++) {
        double sum = 0;

        for (size_t left = stays + min; left <= s->len; left++)
            if (s->open[left] > 0)
                sum += s->open[left] * binomial(s, left, left - stays, share);
        s->open[stays] = sum;
    }
}

/* The last class takes all that is left. */
static double take_rest(const shares *s, size_t min)
{
    double sum = 0;

    for (size_t left = min; left <= s->len; left++)
        sum += s->open[left];
    return sum;
}

double skv_recipe_part(const skv_recipe *recipe, size_t len)
{
    shares s = {.len = len};
    size_t size = recipe->size, asked = 0;

    for (skv_class type = 0; type < SKV_CLASSES; type++)
        asked += recipe->at_least[type];
    if (!asked)
        return 1;
    for (size_t i = 1; i <= len; i++)
        s.log_factorial[i] = s.log_factorial[i - 1] + log((double)i);
    s.open[len] = 1;
    for (skv_class type = 0; type < SKV_CLASSES; size -= recipe->of_class[type++]) {
        if (recipe->of_class[type] == size)
            return take_rest(&s, recipe->at_least[type]);
        if (recipe->of_class[type])
            take_class(&s, (double)recipe->of_class[type] / (double)size, recipe->at_least[type]);
    }
    return 0;
}

double skv_recipe_bits(const skv_recipe *recipe, size_t len)
{
    return (double)len * log2((double)recipe->size) + log2(skv_recipe_part(recipe, len));
}
