/* Whatever the reader reads, jansson reads too, and the writer writes such that it reads the same again. */
#include "rewrite.h"

#include <jansson.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void jansson_reads_it_too(const char *bytes, size_t size)
{
    json_error_t error;
    json_t *json = json_loadb(bytes, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

    /* All but a NUL in a name. */
    assert(json || json_error_code(&error) == json_error_null_byte_in_key);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    skv_buf once, twice;

    skv_buf_init(&once, 1 << 20);
    skv_buf_init(&twice, 1 << 20);
    if (rewrite((const char *)data, size, &once)) {
        bool again = rewrite(once.bytes, once.len, &twice);
        /* An exponent or an integer part may have grown beyond what the reader takes. */
        if (again)
            assert(once.len == twice.len && memcmp(once.bytes, twice.bytes, once.len) == 0);
        jansson_reads_it_too((const char *)data, size);
        jansson_reads_it_too(once.bytes, once.len);
    }
    skv_buf_free(&twice);
    skv_buf_free(&once);
    return 0;
}
