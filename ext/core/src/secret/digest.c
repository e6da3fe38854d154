#include "secret/digest.h"

#include <openssl/err.h>

static void begin(skv_digest *digest)
{
    digest->failed = digest->failed || EVP_DigestInit_ex(digest->context, digest->type, NULL) != 1;
}

void skv_digest_open(skv_digest *digest, const EVP_MD *type)
{
    ERR_set_mark();
    *digest = (skv_digest){.context = EVP_MD_CTX_new(), .type = type};
    digest->failed = !digest->context;
    begin(digest);
}

void skv_digest_add(skv_digest *digest, const void *bytes, size_t len)
{
    digest->failed = digest->failed || EVP_DigestUpdate(digest->context, bytes, len) != 1;
}

void skv_digest_add_repeated(skv_digest *digest, const void *block, size_t size, size_t len)
{
    for (; len > size; len -= size)
        skv_digest_add(digest, block, size);
    skv_digest_add(digest, block, len);
}

void skv_digest_take(skv_digest *digest, unsigned char *out)
{
    digest->failed = digest->failed || EVP_DigestFinal_ex(digest->context, out, NULL) != 1;
    begin(digest);
}

skv_status skv_digest_close(skv_digest *digest, skv_reply *reply)
{
    EVP_MD_CTX_free(digest->context);
    ERR_pop_to_mark();
    if (!digest->failed)
        return reply->status;
    return skv_fail(reply, SKV_UNAVAILABLE,
                    "OpenSSL cannot compute %s: there is too little memory, or it refuses this digest, as in FIPS mode",
                    EVP_MD_name(digest->type));
}
