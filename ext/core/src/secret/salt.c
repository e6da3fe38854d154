#include "secret/salt.h"

#include "secret/crypt_digits.h"
#include "secret/random.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

/* HMAC-SHA-256 of format and cost, with the seed as its key. */
static skv_status derive_salt(const skv_making *making, void *salt, size_t size, skv_reply *reply)
{
    unsigned char derived[SKV_SALT_MAX];
    char text[64];
    int len = snprintf(text, sizeof text, "%s %lld", making->format, (long long)making->cost);

    ERR_set_mark();
    if (!HMAC(EVP_sha256(), making->seed, (int)strlen(making->seed), (unsigned char *)text, (size_t)len, derived, NULL))
        skv_fail(reply, SKV_UNAVAILABLE, "OpenSSL cannot compute HMAC-SHA-256: there is too little memory");
    else
        memcpy(salt, derived, size);
    ERR_pop_to_mark();
    return reply->status;
}

skv_status skv_salt_bytes(const skv_making *making, void *salt, size_t size, skv_reply *reply)
{
    return making->seed ? derive_salt(making, salt, size, reply) : skv_random_bytes(salt, size, reply);
}

skv_status skv_salt_digits(const skv_making *making, char *salt, size_t len, skv_reply *reply)
{
    if (skv_salt_bytes(making, salt, len, reply) == SKV_OK)
        for (size_t i = 0; i < len; i++)
            salt[i] = skv_crypt_digits[salt[i] & 63];
    return reply->status;
}
