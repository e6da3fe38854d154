/* secret/crypt_digits.h - the digits of crypt(3), each of which stands for six bits: letters, digits, '.' and '/'. */
#ifndef SKV_SECRET_CRYPT_DIGITS_H
#define SKV_SECRET_CRYPT_DIGITS_H

#include "base/buf.h"

/* By their values. */
extern const char skv_crypt_digits[65];

/* Appends the digits of `count` bytes in the order of their indices: the digits of each three begin with the lowest
 * bits of the first byte. */
void skv_put_crypt_digits(skv_buf *buf, const unsigned char *bytes, const unsigned char *order, size_t count);

#endif
