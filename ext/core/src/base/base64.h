/* base/base64.h - base64 with padding (RFC 4648, section 4), and base64url without (RFC 7515, section 2). */
#ifndef SKV_BASE_BASE64_H
#define SKV_BASE_BASE64_H

#include "base/buf.h"

/* Append the encoded bytes. */
void skv_base64_put(skv_buf *buf, const void *bytes, size_t len);
void skv_base64url_put(skv_buf *buf, const void *bytes, size_t len);

/* The number of bytes that `len` characters of base64url stand for. */
static inline size_t skv_base64url_size(size_t len)
{
    return len / 4 * 3 + len % 4 * 3 / 4;
}

/* Decodes base64url into `out`, which has room for skv_base64url_size(len) bytes. Returns false unless the text is the
 * only one that stands for these bytes: it has other characters, a length that no bytes have, or bits after the last
 * byte. */
bool skv_base64url_decode(const char *text, size_t len, unsigned char *out);

#endif
