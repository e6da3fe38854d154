#include "secret/keypair.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/core_names.h>
#endif

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
    return EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, size) == 1;
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

skv_status skv_keypair_public(int type, const unsigned char private[SKV_KEY25519_SIZE],
                              unsigned char public[SKV_KEY25519_SIZE], skv_reply *reply)
{
    EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(type, NULL, private, SKV_KEY25519_SIZE);
    size_t size = SKV_KEY25519_SIZE;

    if (!pair || EVP_PKEY_get_raw_public_key(pair, public, &size) != 1)
        skv_fail_openssl("make a key pair", reply);
    EVP_PKEY_free(pair);
    return reply->status;
}

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
BIGNUM *skv_keypair_number(const EVP_PKEY *pair, skv_key_number which)
{
    static const char *const names[] = {
        [SKV_RSA_N] = OSSL_PKEY_PARAM_RSA_N,
        [SKV_RSA_E] = OSSL_PKEY_PARAM_RSA_E,
        [SKV_RSA_D] = OSSL_PKEY_PARAM_RSA_D,
        [SKV_RSA_P] = OSSL_PKEY_PARAM_RSA_FACTOR1,
        [SKV_RSA_Q] = OSSL_PKEY_PARAM_RSA_FACTOR2,
        [SKV_RSA_D_MOD_P_1] = OSSL_PKEY_PARAM_RSA_EXPONENT1,
        [SKV_RSA_D_MOD_Q_1] = OSSL_PKEY_PARAM_RSA_EXPONENT2,
        [SKV_RSA_INVERSE_Q] = OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
        [SKV_EC_PRIVATE] = OSSL_PKEY_PARAM_PRIV_KEY,
    };
    BIGNUM *number = NULL;

    return EVP_PKEY_get_bn_param(pair, names[which], &number) == 1 ? number : NULL;
}
#else
BIGNUM *skv_keypair_number(const EVP_PKEY *pair, skv_key_number which)
{
    const RSA *rsa = which == SKV_EC_PRIVATE ? NULL : EVP_PKEY_get0_RSA((EVP_PKEY *)pair);
    const EC_KEY *ec = which == SKV_EC_PRIVATE ? EVP_PKEY_get0_EC_KEY((EVP_PKEY *)pair) : NULL;
    const BIGNUM *numbers[SKV_EC_PRIVATE + 1] = {NULL};

    if (rsa) {
        RSA_get0_key(rsa, &numbers[SKV_RSA_N], &numbers[SKV_RSA_E], &numbers[SKV_RSA_D]);
        RSA_get0_factors(rsa, &numbers[SKV_RSA_P], &numbers[SKV_RSA_Q]);
        RSA_get0_crt_params(rsa, &numbers[SKV_RSA_D_MOD_P_1], &numbers[SKV_RSA_D_MOD_Q_1], &numbers[SKV_RSA_INVERSE_Q]);
    } else if (ec) {
        numbers[SKV_EC_PRIVATE] = EC_KEY_get0_private_key(ec);
    }
    return numbers[which] ? BN_dup(numbers[which]) : NULL;
}
#endif
