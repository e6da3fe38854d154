#include "crypt/cipher.h"

#ifdef SKV_WITHOUT_JOSE

skv_status skv_cipher_check(skv_reply *reply)
{
    return skv_fail(reply, SKV_INVALID,
                    "'encryption_keys' needs a simpkv that is built with libjose: install libjose-dev (on EL "
                    "libjose-devel), and build simpkv again");
}

skv_status skv_cipher_seal(const skv_secret *key, const skv_place *place, skv_span document, skv_reply *reply)
{
    (void)key, (void)place, (void)document;
    return skv_cipher_check(reply);
}

skv_cipher *skv_cipher_new(void)
{
    return NULL;
}

void skv_cipher_free(skv_cipher *cipher)
{
    (void)cipher;
}

skv_status skv_cipher_open(skv_cipher *cipher, const skv_secret *key, skv_sealed *sealed, skv_reply *reply)
{
    (void)cipher, (void)key, (void)sealed;
    return skv_cipher_check(reply);
}

#else

#include "crypt/base64url.h"
#include "json/tree.h"

#include <jose/b64.h>
#include <jose/jwe.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <string.h>

skv_status skv_cipher_check(skv_reply *reply)
{
    return reply->status;
}

/* ---- Encrypting ---- */

/* libjose prints messages to stderr without such a function. */
static void ignore_message(void *misc, const char *file, int line, uint64_t error, const char *format,
                           va_list arguments)
{
    (void)misc, (void)file, (void)line, (void)error, (void)format, (void)arguments;
}

/* Returns NULL if memory runs out. */
static json_t *make_jwk(const skv_secret *key)
{
    json_t *jwk = json_object();
    skv_buf coded;

    skv_buf_init(&coded, SIZE_MAX);
    skv_base64url_put(&coded, key->bytes, sizeof key->bytes);
    skv_json_put(&jwk, "kty", json_string("oct"));
    skv_json_put(&jwk, "k", coded.bytes ? json_stringn(coded.bytes, coded.len) : NULL);
    skv_buf_free(&coded);
    return jwk;
}

/* Returns NULL if memory runs out. */
static json_t *make_jwe(const skv_secret *key, const skv_place *place)
{
    json_t *header = json_object(), *jwe = json_object();

    skv_json_put(&header, "alg", json_string("dir"));
    skv_json_put(&header, "enc", json_string("A256GCM"));
    skv_json_put(&header, "kid", json_string(key->kid));
    skv_json_put(&header, "backend", json_stringn(place->backend.bytes, place->backend.len));
    skv_json_put(&header, "path", json_stringn(place->path.bytes, place->path.len));
    skv_json_put(&jwe, "protected", header);
    return jwe;
}

/* Encrypts the document, and adds header, iv and tag to the JWE. `text` has room for the document. */
static bool run_jose(jose_cfg_t *config, json_t *jwe, const json_t *jwk, skv_span document, char *text)
{
    size_t len = document.len;
    jose_io_t *out = jose_io_buffer(config, text, &len), *in = NULL;
    bool done;

    if (out)
        in = jose_jwe_enc_cek_io(config, jwe, jwk, out);
    done = in && in->feed(in, document.bytes, document.len) && in->done(in) && len == document.len;
    if (in)
        jose_io_decref(in);
    if (out)
        jose_io_decref(out);
    return done;
}

static void put_part(skv_buf *data, const json_t *jwe, const char *name, const char *after)
{
    const json_t *part = json_object_get(jwe, name);

    skv_buf_put(data, json_string_value(part), json_string_length(part));
    skv_buf_put_string(data, after);
}

static bool seal(json_t *jwe, const json_t *jwk, skv_span document, skv_buf *data)
{
    char *text = skv_alloc(document.len);
    jose_cfg_t *config = jose_cfg();
    bool done = false;

    if (text && config && jwe && jwk) {
        jose_cfg_set_err_func(config, ignore_message, NULL);
        done = run_jose(config, jwe, jwk, document, text);
    }
    if (done) {
        put_part(data, jwe, "protected", "..");
        put_part(data, jwe, "iv", ".");
        skv_base64url_put(data, text, document.len);
        skv_buf_put_string(data, ".");
        put_part(data, jwe, "tag", "");
    }
    if (config)
        jose_cfg_decref(config);
    skv_free(text);
    return done;
}

/* OpenSSL's errors do not stay in the queue of the thread, where Ruby's OpenSSL would find them. */
skv_status skv_cipher_seal(const skv_secret *key, const skv_place *place, skv_span document, skv_reply *reply)
{
    json_t *jwk = make_jwk(key), *jwe = make_jwe(key, place);

    ERR_set_mark();
    if (!seal(jwe, jwk, document, &reply->data))
        skv_fail(reply, SKV_UNAVAILABLE,
                 "libjose cannot encrypt: there is too little memory, or OpenSSL refuses "
                 "AES-256-GCM");
    ERR_pop_to_mark();
    json_decref(jwk);
    json_decref(jwe);
    return skv_reply_done(reply);
}

/* ---- Decrypting ----
 *
 * Not with libjose, which decrypts one byte at a time, in 45 ms for 1 MB (docs/adr/0046).
 */

struct skv_cipher {
    EVP_CIPHER_CTX *context;
    const skv_secret *key; /* the one that the context was made for; NULL for none */
};

skv_cipher *skv_cipher_new(void)
{
    skv_cipher *cipher = skv_alloc_zeroed(1, sizeof *cipher);

    if (cipher)
        cipher->context = EVP_CIPHER_CTX_new();
    if (cipher && cipher->context)
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
    cipher->key = EVP_DecryptInit_ex(cipher->context, EVP_aes_256_gcm(), NULL, key->bytes, NULL) == 1 ? key : NULL;
    return cipher->key;
}

static bool open_sealed(EVP_CIPHER_CTX *context, skv_sealed *sealed)
{
    unsigned char *text = sealed->text;
    int len = 0;

    return EVP_DecryptInit_ex(context, NULL, NULL, NULL, sealed->iv) == 1 &&
           EVP_DecryptUpdate(context, NULL, &len, (const unsigned char *)sealed->header.bytes,
                             (int)sealed->header.len) == 1 &&
           EVP_DecryptUpdate(context, text, &len, text, (int)sealed->len) == 1 && (size_t)len == sealed->len &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, SKV_JWE_TAG_SIZE, sealed->tag) == 1 &&
           EVP_DecryptFinal_ex(context, text + len, &len) == 1 && len == 0;
}

skv_status skv_cipher_open(skv_cipher *cipher, const skv_secret *key, skv_sealed *sealed, skv_reply *reply)
{
    ERR_set_mark();
    if (!set_key(cipher, key) || !open_sealed(cipher->context, sealed))
        skv_fail(reply, SKV_MALFORMED,
                 "its encrypted document was changed, or the key '%s' is not the one that encrypted it", key->kid);
    ERR_pop_to_mark();
    return reply->status;
}

#endif
