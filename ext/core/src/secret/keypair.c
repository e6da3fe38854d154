#include "secret/keypair.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

skv_status skv_fail_openssl(const char *what, skv_reply *reply)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    return skv_fail(reply, SKV_UNAVAILABLE, "OpenSSL cannot %s: %s", what,
                    reason ? reason : "there is too little memory, or it refuses the algorithm or random numbers");
}

static bool set_size(EVP_PKEY_CTX *context, int type, int size)
{
    if (type == EVP_PKEY_RSA)
        return EVP_PKEY_CTX_set_rsa_keygen_bits(context, size) == 1;
    return type != EVP_PKEY_EC || EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, size) == 1;
}

EVP_PKEY *skv_keypair_new(int type, int size, skv_reply *reply)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(type, NULL);
    EVP_PKEY *pair = NULL;

    if (!context || EVP_PKEY_keygen_init(context) != 1 || !set_size(context, type, size) ||
        EVP_PKEY_keygen(context, &pair) != 1)
        skv_fail_openssl("make a key pair", reply);
    EVP_PKEY_CTX_free(context);
    return pair;
}
