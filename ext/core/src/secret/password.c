#include "base/ascii.h"
#include "secret/alphabet.h"
#include "secret/kind.h"
#include "secret/words.h"
#include "json/tree.h"

#include <math.h>
#include <string.h>

#define BITS_MAX 1024    /* of "minimum_bits" */
#define WORDS_MAX 128    /* have more bits than that */
#define BITS_OF_WORD 11  /* SKV_WORDS is 2 to the power of 11 */
#define SEPARATOR_MAX 16 /* bytes */
#define BYTES_MIN 10     /* of the kind 'bytes': 80 bits */
#define BYTES_MAX 4096   /* of the kind 'bytes' */
#define REFUSED_MAX 1000 /* of so many texts, a recipe must accept one */
#define ROUNDING 1e-9    /* of entropies, in bits */

/* Sets the value of a secret, and frees nothing. */
static skv_status put_value(json_t **made, const char *value, size_t len, skv_reply *reply)
{
    if (reply->status != SKV_OK)
        return reply->status;
    skv_json_put(made, "value", json_stringn(value, len));
    skv_json_put(made, "parts", json_object());
    return SKV_OK;
}

/* ---- Passwords of words ---- */

static bool is_separator(const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] > 0x7E || (skv_ascii_lower(text[i]) >= 'a' && skv_ascii_lower(text[i]) <= 'z'))
            return false;
    return len > 0 && len <= SEPARATOR_MAX;
}

static skv_status join_words(size_t count, const char *separator, json_t **made, skv_reply *reply)
{
    char text[WORDS_MAX * (SKV_WORD_MAX + SEPARATOR_MAX) + 1] = "", *end = text;
    uint32_t numbers[WORDS_MAX];

    if (skv_random_numbers(numbers, count, SKV_WORDS, reply) == SKV_OK)
        for (size_t i = 0; i < count; i++)
            end = stpcpy(stpcpy(end, i ? separator : ""), skv_words[numbers[i]]);
    put_value(made, text, (size_t)(end - text), reply);
    explicit_bzero(text, sizeof text);
    explicit_bzero(numbers, sizeof numbers);
    return reply->status;
}

static skv_status make_of_words(skv_request *request, int64_t words, int64_t min_bits, json_t **made)
{
    const char *separator = skv_request_text(request, "separator", "-");
    const int64_t bits = words * BITS_OF_WORD;

    request->what = "kind 'password' with 'words'";
    /* Letters would make words run into each other. */
    if (!is_separator(separator))
        return skv_request_refuse(request, "separator", "1 to 16 printable characters of ASCII that are no letters");
    if (!skv_request_done(request))
        return request->reply->status;
    if (bits < min_bits)
        return skv_fail(request->reply, SKV_INVALID,
                        "option 'words': expected %lld or more: %lld words have %lld bits, and minimum_bits is %lld",
                        (long long)((min_bits + BITS_OF_WORD - 1) / BITS_OF_WORD), (long long)words, (long long)bits,
                        (long long)min_bits);
    return join_words((size_t)words, separator, made, request->reply);
}

/* ---- Passwords of characters ---- */

static skv_status read_minimum(skv_request *request, skv_recipe *recipe, const char *name, const json_t *value)
{
    skv_class type = 0;

    while (type < SKV_CLASSES && strcmp(skv_class_names[type], name) != 0)
        type++;
    if (type == SKV_CLASSES || !json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > SKV_PASSWORD_MAX)
        return skv_request_refuse(request, "at_least",
                                  "a Hash from 'digits', 'upper', 'lower' and 'special' to integers from 0 to 1024");
    recipe->at_least[type] = (size_t)json_integer_value(value);
    if (recipe->at_least[type] && !recipe->of_class[type])
        return skv_fail(request->reply, SKV_INVALID,
                        "option 'at_least': the alphabet '%s' has no characters of '%s': expected another 'alphabet'",
                        recipe->alphabet->name, name);
    return SKV_OK;
}

static skv_status read_recipe(skv_request *request, skv_recipe *recipe)
{
    const char *name = skv_request_text(request, "alphabet", "alphanumeric");
    skv_json_walk walk = {.container = skv_request_object(request, "at_least")};

    if (request->reply->status == SKV_OK && !skv_recipe_init(recipe, name))
        skv_request_refuse(request, "alphabet", SKV_ALPHABETS);
    while (request->reply->status == SKV_OK && skv_json_next_member(&walk))
        read_minimum(request, recipe, walk.name, walk.value);
    return request->reply->status;
}

/* Returns the smallest length that has enough entropy. */
static size_t enough(const skv_recipe *recipe, int64_t min_bits)
{
    size_t len = (size_t)ceil((double)min_bits / log2((double)recipe->size));

    while (len < SKV_PASSWORD_MAX && skv_recipe_bits(recipe, len) + ROUNDING < (double)min_bits)
        len++;
    return len;
}

/* Fails if the entropy is too small, or if too few texts of this length are accepted to find one by trying. */
static skv_status check_recipe(const skv_recipe *recipe, size_t len, int64_t min_bits, skv_reply *reply)
{
    size_t asked = 0;
    double bits;

    for (skv_class type = 0; type < SKV_CLASSES; type++)
        asked += recipe->at_least[type];
    if (asked > len)
        return skv_fail(reply, SKV_INVALID,
                        "option 'at_least': %zu characters do not fit into a length of %zu: expected smaller numbers, "
                        "or a larger 'length'",
                        asked, len);
    if (skv_recipe_part(recipe, len) * REFUSED_MAX < 1)
        return skv_fail(reply, SKV_INVALID,
                        "option 'at_least': of %d texts of %zu characters, less than one has so many of each class: "
                        "expected smaller numbers, or a larger 'length'",
                        REFUSED_MAX, len);
    bits = skv_recipe_bits(recipe, len) + ROUNDING;
    if (bits < (double)min_bits)
        return skv_fail(
            reply, SKV_INVALID,
            "option 'length': expected %zu or more: %zu characters of '%s'%s have %d bits, and minimum_bits "
            "is %lld",
            enough(recipe, min_bits), len, recipe->alphabet->name, asked ? " with this 'at_least'" : "", (int)bits,
            (long long)min_bits);
    return SKV_OK;
}

/* Draws whole texts until one has what the recipe asks for, so that each of those is equally likely. */
static skv_status draw_characters(const skv_recipe *recipe, size_t len, json_t **made, skv_reply *reply)
{
    uint32_t numbers[SKV_PASSWORD_MAX];
    char text[SKV_PASSWORD_MAX];

    do {
        if (skv_random_numbers(numbers, len, (uint32_t)recipe->size, reply) != SKV_OK)
            break;
        for (size_t i = 0; i < len; i++)
            text[i] = recipe->alphabet->characters[numbers[i]];
    } while (!skv_recipe_accepts(recipe, text, len));
    put_value(made, text, len, reply);
    explicit_bzero(text, sizeof text);
    explicit_bzero(numbers, sizeof numbers);
    return reply->status;
}

static skv_status make_of_characters(skv_request *request, int64_t min_bits, json_t **made)
{
    int64_t len = skv_request_integer(request, "length", 24, 1, SKV_PASSWORD_MAX);
    skv_recipe recipe;

    request->what = "kind 'password' without 'words'";
    if (read_recipe(request, &recipe) != SKV_OK || !skv_request_done(request) ||
        check_recipe(&recipe, (size_t)len, min_bits, request->reply) != SKV_OK)
        return request->reply->status;
    return draw_characters(&recipe, (size_t)len, made, request->reply);
}

skv_status skv_make_password(skv_request *request, json_t **made)
{
    int64_t min_bits = skv_request_integer(request, "minimum_bits", 80, 1, BITS_MAX);
    int64_t words = skv_request_integer(request, "words", 0, 1, WORDS_MAX);

    if (request->reply->status != SKV_OK)
        return request->reply->status;
    return words ? make_of_words(request, words, min_bits, made) : make_of_characters(request, min_bits, made);
}

/* ---- Bytes ---- */

skv_status skv_make_bytes(skv_request *request, json_t **made)
{
    int64_t len = skv_request_integer(request, "length", 32, BYTES_MIN, BYTES_MAX);
    unsigned char bytes[BYTES_MAX];
    skv_buf text;

    skv_buf_init(&text, 2 * (size_t)BYTES_MAX);
    if (skv_request_done(request) && skv_random_bytes(bytes, (size_t)len, request->reply) == SKV_OK)
        skv_base64_put(&text, bytes, (size_t)len);
    if (skv_buf_failed(&text))
        skv_fail_memory(request->reply);
    if (put_value(made, text.bytes, text.len, request->reply) == SKV_OK)
        skv_json_put(made, "encoding", json_string("base64"));
    skv_buf_free(&text);
    explicit_bzero(bytes, sizeof bytes);
    return request->reply->status;
}
