/* Passwords: each one that a request allows is equally likely, and a request of too little entropy is refused. */
#include "chaos.h"
#include "check.h"
#include "secret/alphabet.h"
#include "secret/random.h"
#include "secret/words.h"
#include "simpkv_secret.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static skv_reply *reply;

/* Sanitizers look at memory, for which a tenth of the statistics is enough. */
#ifdef __SANITIZE_ADDRESS__
#define TIMES(times) (check_rounds(times) / 10)
#else
#define TIMES(times) check_rounds(times)
#endif

static skv_status make(const char *request)
{
    return skv_secret_make(request, strlen(request), reply);
}

/* Makes a secret, and copies its value. Returns the length of the value; 0 if there is none. */
static size_t made(const char *request, char *value, size_t size)
{
    json_t *object = CHECK(make(request) == SKV_OK) ? json_loads(skv_reply_data(reply), 0, NULL) : NULL;
    const char *text = json_string_value(json_object_get(object, "value"));
    size_t len = text ? strlen(text) : 0;

    snprintf(value, size, "%s", text ? text : "");
    CHECK(json_is_object(json_object_get(object, "parts")) && json_object_size(json_object_get(object, "parts")) == 0);
    json_decref(object);
    return len;
}

static void refused(const char *request, const char *message)
{
    CHECK(make(request) == SKV_INVALID);
    CHECK_STR(skv_reply_message(reply), message);
    CHECK(skv_reply_size(reply) == 0);
}

/* ---- Statistics ---- */

/* The value that the chi-square of a right generator passes once in a billion runs, by the approximation of Wilson and
 * Hilferty, which is too high for few cells. */
static double limit_of(size_t cells)
{
    const double df = (double)(cells - 1), part = 2 / (9 * df), deviations = 5.9978;

    return df * pow(1 - part + deviations * sqrt(part), 3);
}

static double chi_square(const long *counts, size_t cells)
{
    double total = 0, sum = 0, expected;

    for (size_t i = 0; i < cells; i++)
        total += (double)counts[i];
    expected = total / (double)cells;
    for (size_t i = 0; i < cells; i++)
        sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    return sum;
}

static bool is_uniform(const long *counts, size_t cells)
{
    return chi_square(counts, cells) < limit_of(cells);
}

/* With three cells, the exact value is -2 times the logarithm of a billionth. */
static void the_limit_is_that_of_a_billionth(void)
{
    const double exact = -2 * log(1e-9);

    CHECK(limit_of(3) > exact && limit_of(3) < exact * 1.2);
}

static const struct {
    const char *name, *characters;
} alphabets[] = {
    {"alphanumeric", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"},
    {"readable", "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz"},
    {"safe", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._"},
    {"symbols", "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"},
    {"digits", "0123456789"},
    {"hex", "0123456789abcdef"}};

static void count_characters(const char *text, const char *characters, long *counts)
{
    for (; *text; text++) {
        const char *found = strchr(characters, *text);

        if (!found)
            CHECK(!"a character of the alphabet");
        else
            counts[found - characters]++;
    }
}

/* Ten million characters of each alphabet. */
static void each_character_is_equally_likely(void)
{
    char request[128], value[SKV_PASSWORD_MAX + 1];
    long passwords = TIMES(10000000 / SKV_PASSWORD_MAX + 1);

    for (size_t i = 0; i < sizeof alphabets / sizeof *alphabets; i++) {
        long counts[94] = {0};

        snprintf(request, sizeof request, "{\"alphabet\":\"%s\",\"length\":%d}", alphabets[i].name, SKV_PASSWORD_MAX);
        for (long n = 0; n < passwords; n++) {
            CHECK(made(request, value, sizeof value) == SKV_PASSWORD_MAX);
            count_characters(value, alphabets[i].characters, counts);
        }
        CHECK(is_uniform(counts, strlen(alphabets[i].characters)));
        check_tally(alphabets[i].name, 0, passwords * SKV_PASSWORD_MAX);
    }
}

/* Remainders of bytes: the first eight of 62 are more likely by a quarter. */
static void the_statistic_sees_remainders(void)
{
    long counts[62] = {0};
    unsigned char bytes[1000];

    for (int n = 0; n < 10000; n++) {
        CHECK(skv_random_bytes(bytes, sizeof bytes, reply) == SKV_OK);
        for (size_t i = 0; i < sizeof bytes; i++)
            counts[bytes[i] % 62]++;
    }
    CHECK(!is_uniform(counts, 62));
}

/* If numbers were not drawn again, a third of those below a limit of 3/4 of 2^32 would be twice as likely as the
 * others. */
static void numbers_are_uniform_below_any_limit(void)
{
    static const uint32_t limits[] = {1, 2, 3, 1u << 31, 3u << 30, 0xFFFFFFFF};
    uint32_t numbers[1000];

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const uint64_t cells = limits[i] < 3 ? limits[i] : 3;
        long counts[3] = {0};

        for (int n = 0; n < TIMES(1000); n++) {
            CHECK(skv_random_numbers(numbers, 1000, limits[i], reply) == SKV_OK);
            for (size_t k = 0; k < 1000; k++)
                if (numbers[k] < limits[i])
                    counts[numbers[k] * cells / limits[i]]++;
                else
                    CHECK(!"a number below the limit");
        }
        CHECK(cells == 1 || is_uniform(counts, cells));
    }
}

static void bytes_beyond_one_call_of_the_kernel_are_filled(void)
{
    static unsigned char bytes[3 << 20];
    long counts[256] = {0};

    CHECK(skv_random_bytes(bytes, sizeof bytes, reply) == SKV_OK);
    for (size_t i = 0; i < sizeof bytes; i++)
        counts[bytes[i]]++;
    CHECK(is_uniform(counts, 256));
}

/* ---- What a password has at least ---- */

/* All 220 texts of two hexadecimal digits of which one is from 0 to 9. A generator that put a digit into a random place
 * would make those with two digits too seldom. */
static void each_text_that_is_accepted_is_equally_likely(void)
{
    static long counts[256];
    long accepted[256];
    size_t cells = 0;
    char value[16];

    for (int n = 0; n < TIMES(100000); n++) {
        CHECK(made("{\"alphabet\":\"hex\",\"length\":2,\"at_least\":{\"digits\":1},\"minimum_bits\":1}", value,
                   sizeof value) == 2);
        counts[strtol(value, NULL, 16)]++;
    }
    for (size_t i = 0; i < 256; i++) {
        if (i / 16 < 10 || i % 16 < 10)
            accepted[cells++] = counts[i];
        else
            CHECK(counts[i] == 0);
    }
    CHECK(cells == 220 && is_uniform(accepted, cells));
}

static void passwords_have_what_is_asked_for(void)
{
    char value[64];

    for (int n = 0; n < TIMES(1000); n++) {
        size_t digits = 0, upper = 0, lower = 0, special = 0;

        CHECK(made("{\"alphabet\":\"symbols\",\"length\":16,\"at_least\":{\"digits\":2,\"upper\":3,\"lower\":1,"
                   "\"special\":4}}",
                   value, sizeof value) == 16);
        for (const char *c = value; *c; c++) {
            digits += *c >= '0' && *c <= '9';
            upper += *c >= 'A' && *c <= 'Z';
            lower += *c >= 'a' && *c <= 'z';
        }
        special = 16 - digits - upper - lower;
        CHECK(digits >= 2 && upper >= 3 && lower >= 1 && special >= 4);
    }
}

static skv_recipe recipe_of(const char *alphabet, size_t digits, size_t upper, size_t lower, size_t special)
{
    skv_recipe recipe;

    CHECK(skv_recipe_init(&recipe, alphabet));
    memcpy(recipe.at_least, (size_t[]){digits, upper, lower, special}, sizeof recipe.at_least);
    return recipe;
}

/* Counts the texts of four characters, one by one. */
static double counted(const skv_recipe *recipe)
{
    long all = 0, accepted = 0;
    char text[4];

    for (size_t n = 0; n < recipe->size * recipe->size * recipe->size * recipe->size; n++) {
        size_t rest = n;

        for (size_t i = 0; i < sizeof text; i++, rest /= recipe->size)
            text[i] = recipe->alphabet->characters[rest % recipe->size];
        all++;
        accepted += skv_recipe_accepts(recipe, text, sizeof text);
    }
    return (double)accepted / (double)all;
}

/* The probability that n characters have some of the classes whose shares these are: inclusion and exclusion. */
static double has_all(double a, double b, double c, double n)
{
    return 1 - pow(1 - a, n) - pow(1 - b, n) - pow(1 - c, n) + pow(1 - a - b, n) + pow(1 - a - c, n) +
           pow(1 - b - c, n) - pow(1 - a - b - c, n);
}

static bool is_near(double actual, double expected)
{
    return fabs(actual - expected) < 1e-9;
}

static void the_accepted_part_is_exact(void)
{
    static const size_t asked[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 3}, {4, 0}, {2, 2}};
    skv_recipe recipe;

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        recipe = recipe_of("hex", asked[i][0], 0, asked[i][1], 0);
        CHECK(is_near(skv_recipe_part(&recipe, 4), counted(&recipe)));
    }
    recipe = recipe_of("alphanumeric", 1, 0, 0, 0);
    CHECK(is_near(skv_recipe_part(&recipe, 24), 1 - pow(52.0 / 62, 24)));
    recipe = recipe_of("alphanumeric", 1, 1, 1, 0);
    CHECK(is_near(skv_recipe_part(&recipe, 24), has_all(10.0 / 62, 26.0 / 62, 26.0 / 62, 24)));
    recipe = recipe_of("symbols", 1, 1, 0, 1);
    CHECK(is_near(skv_recipe_part(&recipe, 16), has_all(10.0 / 94, 26.0 / 94, 32.0 / 94, 16)));
    CHECK(is_near(skv_recipe_part(&recipe, SKV_PASSWORD_MAX), 1));
    recipe = recipe_of("digits", 5, 0, 0, 0);
    CHECK(skv_recipe_part(&recipe, 5) == 1 && skv_recipe_part(&recipe, 4) == 0);
    recipe = recipe_of("safe", 0, 0, 0, 0);
    CHECK(skv_recipe_part(&recipe, 20) == 1 && is_near(skv_recipe_bits(&recipe, 20), 120));
}

/* ---- Words ---- */

static size_t word_number(const char *word)
{
    size_t number = 0;

    while (number < SKV_WORDS && strcmp(skv_words[number], word) != 0)
        number++;
    return number;
}

/* Small letters, sorted, and different in their first four. */
static void the_list_has_no_word_twice(void)
{
    for (size_t i = 0; i < SKV_WORDS; i++) {
        CHECK(strlen(skv_words[i]) >= 3 && strspn(skv_words[i], "abcdefghijklmnopqrstuvwxyz") == strlen(skv_words[i]));
        CHECK(i == 0 || strncmp(skv_words[i - 1], skv_words[i], 4) < 0);
    }
}

static void each_word_is_equally_likely(void)
{
    static long counts[SKV_WORDS];
    char value[128 * 9];

    for (int n = 0; n < TIMES(2000); n++) {
        size_t words = 0;

        made("{\"words\":128,\"separator\":\" \"}", value, sizeof value);
        for (char *at = value, *word; (word = strsep(&at, " ")); words++) {
            size_t number = word_number(word);

            if (CHECK(number < SKV_WORDS))
                counts[number]++;
        }
        CHECK(words == 128);
    }
    CHECK(is_uniform(counts, SKV_WORDS));
}

static void words_have_separators(void)
{
    char value[256], *at = value;
    size_t words = 0;

    made("{\"kind\":\"password\",\"words\":8}", value, sizeof value);
    while (at) {
        CHECK(word_number(strsep(&at, "-")) < SKV_WORDS);
        words++;
    }
    CHECK(words == 8);
    made("{\"words\":8,\"separator\":\"1234567890123456\"}", value, sizeof value);
    CHECK_HAS(value, "1234567890123456");
}

/* ---- Defaults, bytes and refusals ---- */

static void defaults_are_those_of_the_header(void)
{
    char value[8192];

    CHECK(made("{}", value, sizeof value) == 24);
    CHECK(strspn(value, alphabets[0].characters) == 24);
    CHECK(made("{\"length\":5,\"minimum_bits\":29}", value, sizeof value) == 5);
    CHECK(made("{\"alphabet\":\"hex\",\"length\":20}", value, sizeof value) == 20);
    CHECK(made("{\"kind\":\"bytes\"}", value, sizeof value) == 44);
    CHECK_HAS(skv_reply_data(reply), "\"encoding\":\"base64\"");
    CHECK(made("{\"kind\":\"bytes\",\"length\":10}", value, sizeof value) == 16);
    CHECK(made("{\"kind\":\"bytes\",\"length\":4096}", value, sizeof value) == 5464);
}

static void too_little_entropy_is_refused(void)
{
    refused("{\"length\":13}",
            "option 'length': expected 14 or more: 13 characters of 'alphanumeric' have 77 bits, and "
            "minimum_bits is 80");
    refused("{\"alphabet\":\"readable\",\"length\":13}",
            "option 'length': expected 14 or more: 13 characters of 'readable' have 75 bits, and minimum_bits is 80");
    refused("{\"alphabet\":\"safe\",\"length\":13}",
            "option 'length': expected 14 or more: 13 characters of 'safe' have 78 bits, and minimum_bits is 80");
    refused("{\"alphabet\":\"symbols\",\"length\":12}",
            "option 'length': expected 13 or more: 12 characters of 'symbols' have 78 bits, and minimum_bits is 80");
    refused("{\"alphabet\":\"digits\"}",
            "option 'length': expected 25 or more: 24 characters of 'digits' have 79 bits, and minimum_bits is 80");
    refused("{\"alphabet\":\"hex\",\"length\":19}",
            "option 'length': expected 20 or more: 19 characters of 'hex' have 76 bits, and minimum_bits is 80");
    refused("{\"alphabet\":\"hex\",\"length\":20,\"at_least\":{\"digits\":16}}",
            "option 'length': expected 21 or more: 20 characters of 'hex' with this 'at_least' have 76 bits, and "
            "minimum_bits is 80");
    refused("{\"minimum_bits\":143}", "option 'length': expected 25 or more: 24 characters of 'alphanumeric' have 142 "
                                      "bits, and minimum_bits is 143");
    refused("{\"words\":7}", "option 'words': expected 8 or more: 7 words have 77 bits, and minimum_bits is 80");
    refused("{\"words\":8,\"minimum_bits\":89}",
            "option 'words': expected 9 or more: 8 words have 88 bits, and minimum_bits is 89");
}

static void what_no_password_can_have_is_refused(void)
{
    refused("{\"at_least\":{\"special\":1}}",
            "option 'at_least': the alphabet 'alphanumeric' has no characters of 'special': expected another "
            "'alphabet'");
    refused("{\"at_least\":{\"digits\":12,\"lower\":13}}",
            "option 'at_least': 25 characters do not fit into a length of 24: expected smaller numbers, or a larger "
            "'length'");
    refused("{\"at_least\":{\"digits\":12}}",
            "option 'at_least': of 1000 texts of 24 characters, less than one has so many of each class: expected "
            "smaller numbers, or a larger 'length'");
}

#define AT_LEAST                                                                                                       \
    "option 'at_least': expected a Hash from 'digits', 'upper', 'lower' and 'special' to integers from 0 to 1024"
#define SEPARATOR "option 'separator': expected 1 to 16 printable characters of ASCII that are no letters"

static void wrong_options_are_refused(void)
{
    refused("{\"kind\":\"pin\"}", "option 'kind': expected 'password', 'bytes', 'ssh-ed25519', 'ssh-rsa', 'ssh-ecdsa', "
                                  "'wireguard' or 'x509'");
    refused("{\"alphabet\":\"ascii\"}",
            "option 'alphabet': expected 'alphanumeric', 'readable', 'safe', 'symbols', 'digits' or 'hex'");
    refused("{\"length\":0}", "option 'length': expected an integer from 1 to 1024");
    refused("{\"length\":1025}", "option 'length': expected an integer from 1 to 1024");
    refused("{\"length\":\"24\"}", "option 'length': expected an integer from 1 to 1024");
    refused("{\"minimum_bits\":0}", "option 'minimum_bits': expected an integer from 1 to 1024");
    refused("{\"words\":129}", "option 'words': expected an integer from 1 to 128");
    refused("{\"at_least\":1}", "option 'at_least': expected a Hash");
    refused("{\"at_least\":{\"vowels\":1}}", AT_LEAST);
    refused("{\"at_least\":{\"digits\":-1}}", AT_LEAST);
    refused("{\"at_least\":{\"digits\":1.0}}", AT_LEAST);
    refused("{\"words\":8,\"separator\":\"\"}", SEPARATOR);
    refused("{\"words\":8,\"separator\":\"x\"}", SEPARATOR);
    refused("{\"words\":8,\"separator\":\"\\u00e4\"}", SEPARATOR);
    refused("{\"words\":8,\"separator\":\"12345678901234567\"}", SEPARATOR);
    refused("{\"words\":8,\"length\":8}", "unknown option 'length' of kind 'password' with 'words'");
    refused("{\"words\":8,\"alphabet\":\"hex\"}", "unknown option 'alphabet' of kind 'password' with 'words'");
    refused("{\"words\":8,\"at_least\":{}}", "unknown option 'at_least' of kind 'password' with 'words'");
    refused("{\"separator\":\"-\"}", "unknown option 'separator' of kind 'password' without 'words'");
    refused("{\"kind\":\"bytes\",\"length\":9}", "option 'length': expected an integer from 10 to 4096");
    refused("{\"kind\":\"bytes\",\"alphabet\":\"hex\"}", "unknown option 'alphabet' of kind 'bytes'");
    refused("{", "the request is not JSON: line 1, column 1");
    refused("[]", "the request is no object");
    CHECK(skv_secret_make(NULL, 0, reply) == SKV_INVALID);
    CHECK_STR(skv_reply_message(reply), "the request is NULL");
    CHECK(skv_secret_make("{}", 2, NULL) == SKV_INVALID);
}

static void passwords_without_memory(void)
{
    static const char *const requests[] = {"{}", "{\"alphabet\":\"symbols\",\"at_least\":{\"digits\":1}}",
                                           "{\"words\":8}", "{\"kind\":\"bytes\"}"};

    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        skv_reply *own = skv_reply_new();
        skv_status status;

        if (!own)
            continue;
        status = skv_secret_make(requests[i], strlen(requests[i]), own);
        CHECK(status == SKV_OK || status == SKV_NOMEM);
        CHECK((status == SKV_OK) == (skv_reply_size(own) > 0));
        skv_reply_free(own);
    }
}

int main(void)
{
    reply = skv_reply_new();
    the_limit_is_that_of_a_billionth();
    each_character_is_equally_likely();
    the_statistic_sees_remainders();
    numbers_are_uniform_below_any_limit();
    bytes_beyond_one_call_of_the_kernel_are_filled();
    each_text_that_is_accepted_is_equally_likely();
    passwords_have_what_is_asked_for();
    the_accepted_part_is_exact();
    the_list_has_no_word_twice();
    each_word_is_equally_likely();
    words_have_separators();
    defaults_are_those_of_the_header();
    too_little_entropy_is_refused();
    what_no_password_can_have_is_refused();
    wrong_options_are_refused();
    chaos(passwords_without_memory);
    skv_reply_free(reply);
    return check_summary("password");
}
