/* base/hash.h - a hash for names and fingerprints; not for tables of untrusted keys. */
#ifndef SKV_BASE_HASH_H
#define SKV_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a. */
static inline uint64_t skv_hash(const char *bytes, size_t len)
{
    uint64_t hash = 14695981039346656037U;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211U;
    return hash;
}

#endif
