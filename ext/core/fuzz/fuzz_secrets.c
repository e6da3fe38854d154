/* A request for a secret, and for a form of one. Each has data or a message, and no message has a secret that the
 * request does not name. */
#include "simpkv_secret.h"

#include <assert.h>
#include <crypt.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Costs take no time here: see core.mk. */
char *__wrap_crypt_rn(const char *phrase, const char *setting, void *data, int size);
int __wrap_PKCS5_PBKDF2_HMAC(const char *secret, int len, const unsigned char *salt, int salt_len, int rounds,
                             const EVP_MD *digest, int key_len, unsigned char *key);

char *__wrap_crypt_rn(const char *phrase, const char *setting, void *data, int size)
{
    assert(strlen(phrase) > 0 && strlen(setting) < (size_t)size);
    return strcpy(data, setting);
}

int __wrap_PKCS5_PBKDF2_HMAC(const char *secret, int len, const unsigned char *salt, int salt_len, int rounds,
                             const EVP_MD *digest, int key_len, unsigned char *key)
{
    assert(strlen(secret) == (size_t)len && salt[0] == salt[0] && salt_len == 16 && rounds >= 4096 && digest);
    memset(key, 1, (size_t)key_len);
    return 1;
}

static void check(const skv_reply *reply, const char *request, size_t len, bool may_be_empty)
{
    bool done = skv_reply_status(reply) == SKV_OK;

    assert(done || skv_reply_size(reply) == 0);
    assert(!done || may_be_empty || skv_reply_size(reply) > 0);
    assert(done == (skv_reply_message(reply)[0] == '\0'));
    assert(!strstr(skv_reply_message(reply), "pl4nted") || memmem(request, len, "pl4nted", 7));
}

/* A zero byte separates the request from the secret. Without one, a secret is made. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *request = (const char *)data;
    const char *secret = size ? memchr(data, '\0', size) : NULL;
    skv_reply *reply = skv_reply_new();

    /* RSA takes long. */
    if (!secret && !memmem(data, size, "rsa", 3)) {
        skv_secret_make(request, size, reply);
        check(reply, request, size, false);
    } else if (secret) {
        size_t len = (size_t)(secret - request);

        skv_secret_form(secret + 1, size - len - 1, request, len, reply);
        check(reply, request, len, true);
    }
    skv_reply_free(reply);
    return 0;
}
