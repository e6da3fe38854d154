/* secret/random.h - random numbers from the kernel. No other source is used for secrets and salts, except inside
 * libcrypto, which makes keys itself. */
#ifndef SKV_SECRET_RANDOM_H
#define SKV_SECRET_RANDOM_H

#include "base/reply.h"

/* Fills `size` bytes. Fails with SKV_UNAVAILABLE. */
skv_status skv_random_bytes(void *bytes, size_t size, skv_reply *reply);

/* Fills an array with numbers from 0 to limit - 1, each of them equally likely; limit is 1 at least. */
skv_status skv_random_numbers(uint32_t *numbers, size_t count, uint32_t limit, skv_reply *reply);

#endif
