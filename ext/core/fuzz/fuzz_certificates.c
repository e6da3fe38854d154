/* A request for a revocation list, with the certificate of an issuer; and a certificate with its private key. */
#include "simpkv_secret.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const skv_reply *reply)
{
    assert((skv_reply_status(reply) == SKV_OK) == (skv_reply_size(reply) > 0));
    assert((skv_reply_status(reply) == SKV_OK) == (skv_reply_message(reply)[0] == '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    skv_reply *reply = skv_reply_new();

    skv_secret_crl((const char *)data, size, reply);
    check(reply);
    skv_secret_certificate((const char *)data, size, (const char *)data, size, reply);
    check(reply);
    skv_reply_free(reply);
    return 0;
}
