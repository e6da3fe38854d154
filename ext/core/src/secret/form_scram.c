/* The form of PostgreSQL for SCRAM-SHA-256 (RFC 5802, RFC 7677):
 * SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>. */
#include "base/base64.h"
#include "secret/digest.h"
#include "secret/form.h"
#include "secret/salt.h"

#include <openssl/err.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#define SHA256_SIZE 32

typedef struct scram_keys {
    const unsigned char *salt;
    unsigned char salted[SHA256_SIZE], client[SHA256_SIZE], stored[SHA256_SIZE], server[SHA256_SIZE];
} scram_keys;

static bool is_printable_ascii(const skv_making *making)
{
    for (size_t i = 0; i < making->len; i++)
        if (making->secret[i] < 0x20 || making->secret[i] > 0x7E)
            return false;
    return true;
}

static bool hmac(const unsigned char *key, const char *text, unsigned char *out)
{
    return HMAC(EVP_sha256(), key, SHA256_SIZE, (const unsigned char *)text, strlen(text), out, NULL);
}

static bool compute_keys(const skv_making *making, scram_keys *keys)
{
    return PKCS5_PBKDF2_HMAC(making->secret, (int)making->len, keys->salt, SKV_SCRAM_SALT, (int)making->cost,
                             EVP_sha256(), sizeof keys->salted, keys->salted) == 1 &&
           hmac(keys->salted, "Client Key", keys->client) &&
           EVP_Digest(keys->client, sizeof keys->client, keys->stored, NULL, EVP_sha256(), NULL) == 1 &&
           hmac(keys->salted, "Server Key", keys->server);
}

static void put_keys(const skv_making *making, const scram_keys *keys, skv_buf *out)
{
    char head[64];

    snprintf(head, sizeof head, "SCRAM-SHA-256$%lld:", (long long)making->cost);
    skv_buf_put_string(out, head);
    skv_base64_put(out, keys->salt, SKV_SCRAM_SALT);
    skv_buf_put_char(out, '$');
    skv_base64_put(out, keys->stored, sizeof keys->stored);
    skv_buf_put_char(out, ':');
    skv_base64_put(out, keys->server, sizeof keys->server);
}

skv_status skv_scram_of(const skv_making *making, const unsigned char *salt, skv_reply *reply)
{
    scram_keys keys = {.salt = salt};

    ERR_set_mark();
    if (compute_keys(making, &keys))
        put_keys(making, &keys, &reply->data);
    else
        skv_fail(reply, SKV_UNAVAILABLE,
                 "OpenSSL cannot compute SCRAM-SHA-256: there is too little memory, or it refuses SHA-256");
    ERR_pop_to_mark();
    explicit_bzero(&keys, sizeof keys);
    return reply->status;
}

skv_status skv_form_scram_sha_256(const skv_making *making, skv_reply *reply)
{
    unsigned char salt[SKV_SCRAM_SALT];

    /* Clients normalise other texts with SASLprep (RFC 4013) before they compute this; it leaves these as they are. */
    if (!is_printable_ascii(making))
        return skv_fail(
            reply, SKV_INVALID,
            "format '%s': the secret has a character that is not printable ASCII: expected a secret without, "
            "because simpkv has no SASLprep",
            making->format);
    if (skv_salt_bytes(making, salt, sizeof salt, reply) != SKV_OK)
        return reply->status;
    return skv_scram_of(making, salt, reply);
}
