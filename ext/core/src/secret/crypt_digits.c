#include "secret/crypt_digits.h"

const char skv_crypt_digits[65] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

void skv_put_crypt_digits(skv_buf *buf, const unsigned char *bytes, const unsigned char *order, size_t count)
{
    unsigned bits = 0, has = 0;

    for (size_t i = 0; i < count; i++) {
        bits |= (unsigned)bytes[order[i]] << has;
        for (has += 8; has >= 6; has -= 6, bits >>= 6)
            skv_buf_put_char(buf, skv_crypt_digits[bits & 63]);
        /* Three bytes make four digits. */
        if (i + 1 == count && has)
            skv_buf_put_char(buf, skv_crypt_digits[bits & 63]);
    }
}
