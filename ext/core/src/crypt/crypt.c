/* crypt.c - encrypts documents, and decrypts them. */
#include "base/base64.h"
#include "crypt/decrypt.h"
#include "name/key.h"

#include <stdint.h>
#include <string.h>

/* A place with the path as stores normalise it. */
typedef struct place_of_call {
    skv_place place;
    char path[SKV_KEY_MAX + 1];
} place_of_call;

static bool is_text(skv_span span)
{
    return span.bytes && !memchr(span.bytes, '\0', span.len) && skv_is_utf8(span.bytes, span.len);
}

static skv_status check_arguments(const skv_keyring *keyring, const skv_place *given, skv_span document,
                                  skv_reply *reply)
{
    if (!keyring || !given->backend.bytes || !given->path.bytes || (!document.bytes && document.len))
        return skv_fail(reply, SKV_INVALID, "the keyring, the backend, the path or the document is NULL");
    if (document.len > SKV_DATA_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "a document of more than %d bytes", SKV_DATA_MAX);
    return SKV_OK;
}

static skv_status normalise_place(place_of_call *place, const skv_place *given, skv_reply *reply)
{
    size_t len = 0;

    if (skv_key_normalise("", 0, given->path.bytes, given->path.len, place->path, &len, reply) != SKV_OK)
        return reply->status;
    place->place = (skv_place){given->backend, {place->path, len}};
    if (!is_text(place->place.backend) || !is_text(place->place.path))
        return skv_fail(reply, SKV_INVALID, "key '%s' is not UTF-8: its document cannot be encrypted", place->path);
    return SKV_OK;
}

/* ---- Encrypting ---- */

static void put_document(skv_buf *data, const skv_sealed *sealed)
{
    skv_buf_put_string(data, SKV_JWE_BEFORE);
    skv_buf_put(data, sealed->header.bytes, sealed->header.len);
    skv_buf_put_string(data, "..");
    skv_base64url_put(data, sealed->iv, sizeof sealed->iv);
    skv_buf_put_string(data, ".");
    skv_base64url_put(data, sealed->text, sealed->len);
    skv_buf_put_string(data, ".");
    skv_base64url_put(data, sealed->tag, sizeof sealed->tag);
    skv_buf_put_string(data, SKV_JWE_AFTER);
}

static skv_status encrypt(const skv_secret *key, const skv_place *place, skv_span document, skv_reply *reply)
{
    skv_sealed sealed = {.text = skv_alloc(document.len), .len = document.len};
    skv_cipher *cipher = skv_cipher_new(true);
    skv_buf header;

    skv_buf_init(&header, SIZE_MAX);
    skv_jwe_put_header(&header, key->kid, place);
    if (!cipher || !sealed.text || skv_buf_failed(&header)) {
        skv_fail_memory(reply);
    } else {
        if (document.len)
            memcpy(sealed.text, document.bytes, document.len);
        sealed.header = (skv_span){header.bytes, header.len};
        if (skv_cipher_seal(cipher, key, &sealed, reply) == SKV_OK)
            put_document(&reply->data, &sealed);
    }
    skv_buf_free(&header);
    skv_cipher_free(cipher);
    skv_free(sealed.text);
    return skv_reply_done(reply);
}

skv_status skv_keyring_encrypt(skv_keyring *keyring, const char *backend, size_t backend_len, const char *path,
                               size_t path_len, const char *document, size_t document_len, skv_reply *reply)
{
    const skv_place given = {{backend, backend_len}, {path, path_len}};
    const skv_span span = {document, document_len};
    place_of_call place;
    skv_keys *keys;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (check_arguments(keyring, &given, span, reply) != SKV_OK || normalise_place(&place, &given, reply) != SKV_OK)
        return reply->status;
    keys = skv_keyring_take(keyring, reply);
    if (!keys)
        return reply->status;
    encrypt(&keys->key[0], &place.place, span, reply);
    skv_keyring_release(keys);
    return reply->status;
}

/* ---- Decrypting ---- */

skv_status skv_keyring_decrypt(skv_keyring *keyring, const char *backend, size_t backend_len, const char *path,
                               size_t path_len, const char *document, size_t document_len, skv_reply *reply)
{
    const skv_place given = {{backend, backend_len}, {path, path_len}};
    const skv_span span = {document, document_len};
    skv_decryption decryption;
    place_of_call place;
    skv_jwe jwe;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (check_arguments(keyring, &given, span, reply) != SKV_OK)
        return reply->status;
    if (skv_jwe_find(span, &jwe, reply) != SKV_OK)
        return skv_name_document(given.path, reply);
    /* Paths of plain documents may have any bytes. */
    if (!jwe.header.bytes || normalise_place(&place, &given, reply) != SKV_OK)
        return reply->status;
    if (skv_decryption_begin(&decryption, keyring, reply) == SKV_OK &&
        skv_decryption_run(&decryption, &place.place, &jwe, &reply->data, reply) == SKV_OK)
        reply->number = 1;
    skv_decryption_end(&decryption);
    return reply->status;
}

skv_status skv_document_kid(const char *document, size_t document_len, skv_reply *reply)
{
    skv_jwe_header header;
    skv_jwe jwe;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!document && document_len)
        return skv_fail(reply, SKV_INVALID, "a document is missing");
    if (skv_jwe_find((skv_span){document, document_len}, &jwe, reply) != SKV_OK || !jwe.header.bytes)
        return reply->status;
    if (skv_jwe_read_header(&jwe, &header, reply) == SKV_OK) {
        skv_buf_put_string(&reply->data, header.kid);
        reply->number = 1;
    }
    json_decref(header.tree);
    return skv_reply_done(reply);
}
