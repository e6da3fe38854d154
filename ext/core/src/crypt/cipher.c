#include "crypt/cipher.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

/* Before 1.1.1, a forked process could have the random numbers of its parent, and so the IVs. */
#if defined(OPENSSL_VERSION_NUMBER) && OPENSSL_VERSION_NUMBER < 0x10101000L
#error "simpkv needs OpenSSL 1.1.1 or newer"
#endif

struct skv_cipher {
    EVP_CIPHER_CTX *context;
    const skv_secret *key; /* the one that the context was made for; NULL for none */
    bool encrypts;
};

skv_cipher *skv_cipher_new(bool encrypts)
{
    skv_cipher *cipher = skv_alloc_zeroed(1, sizeof *cipher);

    if (!cipher)
        return NULL;
    cipher->encrypts = encrypts;
    cipher->context = EVP_CIPHER_CTX_new();
    if (cipher->context)
        return cipher;
    skv_free(cipher);
    return NULL;
}

void skv_cipher_free(skv_cipher *cipher)
{
    if (!cipher)
        return;
    EVP_CIPHER_CTX_free(cipher->context);
    skv_free(cipher);
}

static bool set_key(skv_cipher *cipher, const skv_secret *key)
{
    if (cipher->key == key)
        return true;
    cipher->key = NULL;
    if (EVP_CipherInit_ex(cipher->context, EVP_aes_256_gcm(), NULL, key->bytes, NULL, cipher->encrypts) == 1)
        cipher->key = key;
    return cipher->key;
}

/* Everything but the check of the tag, or the making of it. */
static bool run_cipher(skv_cipher *cipher, const skv_secret *key, skv_sealed *sealed)
{
    const unsigned char *header = (const unsigned char *)sealed->header.bytes;
    EVP_CIPHER_CTX *context = cipher->context;
    unsigned char *text = sealed->text;
    int len = 0;

    return set_key(cipher, key) && EVP_CipherInit_ex(context, NULL, NULL, NULL, sealed->iv, cipher->encrypts) == 1 &&
           EVP_CipherUpdate(context, NULL, &len, header, (int)sealed->header.len) == 1 &&
           EVP_CipherUpdate(context, text, &len, text, (int)sealed->len) == 1 && (size_t)len == sealed->len;
}

static bool use_tag(const skv_cipher *cipher, int control, skv_sealed *sealed)
{
    return EVP_CIPHER_CTX_ctrl(cipher->context, control, sizeof sealed->tag, sealed->tag) == 1;
}

static bool finish(const skv_cipher *cipher, skv_sealed *sealed)
{
    int len = 0;

    return EVP_CipherFinal_ex(cipher->context, sealed->text + sealed->len, &len) == 1 && len == 0;
}

static skv_status fail_libcrypto(const char *what, skv_reply *reply)
{
    return skv_fail(reply, SKV_UNAVAILABLE,
                    "OpenSSL cannot %s: there is too little memory, or it refuses AES-256-GCM or random numbers", what);
}

/* libcrypto's errors do not stay in the queue of the thread, where Ruby's OpenSSL would find them. */
skv_status skv_cipher_seal(skv_cipher *cipher, const skv_secret *key, skv_sealed *sealed, skv_reply *reply)
{
    ERR_set_mark();
    if (RAND_bytes(sealed->iv, sizeof sealed->iv) != 1 || !run_cipher(cipher, key, sealed) || !finish(cipher, sealed) ||
        !use_tag(cipher, EVP_CTRL_GCM_GET_TAG, sealed))
        fail_libcrypto("encrypt", reply);
    ERR_pop_to_mark();
    return reply->status;
}

skv_status skv_cipher_open(skv_cipher *cipher, const skv_secret *key, skv_sealed *sealed, skv_reply *reply)
{
    ERR_set_mark();
    if (!run_cipher(cipher, key, sealed) || !use_tag(cipher, EVP_CTRL_GCM_SET_TAG, sealed))
        fail_libcrypto("decrypt", reply);
    else if (!finish(cipher, sealed))
        skv_fail(reply, SKV_MALFORMED,
                 "its encrypted document was changed, or the key '%s' is not the one that encrypted it", key->kid);
    ERR_pop_to_mark();
    return reply->status;
}
