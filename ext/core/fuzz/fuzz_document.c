/* The comparison of two documents, separated by a NUL byte, is symmetrical. It has the same result if both
 * start with a space, with which documents are always parsed. */
#include "simpkv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t same(const char *a, size_t a_len, const char *b, size_t b_len)
{
    skv_reply *reply = skv_reply_new();
    skv_status status = skv_document_same(a, a_len, b, b_len, reply);
    int64_t number = skv_reply_number(reply);

    assert(status == SKV_OK && (number == 0 || number == 1));
    (void)status;
    skv_reply_free(reply);
    return number;
}

/* The caller frees it. */
static char *after_space(const char *bytes, size_t len)
{
    char *spaced = malloc(len + 1);

    assert(spaced);
    spaced[0] = ' ';
    memcpy(spaced + 1, bytes, len);
    return spaced;
}

static int64_t parsed_same(const char *a, size_t a_len, const char *b, size_t b_len)
{
    char *spaced_a = after_space(a, a_len), *spaced_b = after_space(b, b_len);
    int64_t number = same(spaced_a, a_len + 1, spaced_b, b_len + 1);

    free(spaced_a);
    free(spaced_b);
    return number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *a = (const char *)data;
    const char *separator = size ? memchr(a, '\0', size) : NULL;
    const char *b = separator ? separator + 1 : a;
    size_t a_len = separator ? (size_t)(separator - a) : size, b_len = separator ? size - a_len - 1 : size;
    int64_t forth = same(a, a_len, b, b_len), back = same(b, b_len, a, a_len);

    assert(forth == back);
    if (a_len && b_len)
        assert(forth == parsed_same(a, a_len, b, b_len));
    (void)forth;
    (void)back;
    return 0;
}
