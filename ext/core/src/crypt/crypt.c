/* crypt.c - encrypts documents, and decrypts them. */
#include "crypt/base64url.h"
#include "crypt/cipher.h"
#include "crypt/keyring.h"
#include "name/key.h"

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

/* Puts the key before the reason of a failure. */
static skv_status name_document(skv_span path, skv_reply *reply)
{
    skv_status status = reply->status;
    char *reason;

    if (status != SKV_MALFORMED && status != SKV_DENIED && status != SKV_UNAVAILABLE)
        return status;
    reason = skv_copy_string(reply->message, strlen(reply->message));
    if (!reason)
        return status;
    skv_reply_reset(reply);
    skv_fail(reply, status, "cannot decrypt '%.*s': %s", (int)path.len, path.bytes, reason);
    skv_free(reason);
    return status;
}

/* ---- Encrypting ---- */

skv_status skv_keyring_encrypt(skv_keyring *keyring, const char *backend, size_t backend_len, const char *path,
                               size_t path_len, const char *document, size_t document_len, skv_reply *reply)
{
    const skv_place given = {{backend, backend_len}, {path, path_len}};
    const skv_span span = {document, document_len};
    place_of_call place;
    skv_keys *keys;

    skv_reply_reset(reply);
    if (check_arguments(keyring, &given, span, reply) != SKV_OK || normalise_place(&place, &given, reply) != SKV_OK)
        return reply->status;
    keys = skv_keyring_take(keyring, reply);
    if (!keys)
        return reply->status;
    skv_buf_put_string(&reply->data, SKV_JWE_BEFORE);
    if (skv_cipher_seal(&keys->key[0], &place.place, span, reply) == SKV_OK)
        skv_buf_put_string(&reply->data, SKV_JWE_AFTER);
    skv_keyring_release(keys);
    return skv_reply_done(reply);
}

/* ---- Decrypting ---- */

/* One call. */
typedef struct decryption {
    const skv_keyring *keyring;
    const skv_keys *keys;
    const skv_place *place;
    skv_jwe jwe;
    skv_reply *reply;
} decryption;

/* Decrypts with the key, whatever the header says. */
static skv_status open_with(decryption *d, const skv_key *key)
{
    skv_sealed sealed = {.header = d->jwe.header, .len = skv_base64url_size(d->jwe.text.len)};
    skv_buf *data = &d->reply->data;

    if (!skv_buf_reserve(data, sealed.len))
        return skv_reply_done(d->reply);
    sealed.text = (unsigned char *)data->bytes;
    if (!skv_base64url_decode(d->jwe.iv.bytes, d->jwe.iv.len, sealed.iv) ||
        !skv_base64url_decode(d->jwe.tag.bytes, d->jwe.tag.len, sealed.tag) ||
        !skv_base64url_decode(d->jwe.text.bytes, d->jwe.text.len, sealed.text))
        return skv_fail(d->reply, SKV_MALFORMED, "its encrypted document is damaged: a part of it is not base64url");
    data->len = sealed.len;
    data->bytes[data->len] = '\0';
    return skv_cipher_open(key, &sealed, d->reply);
}

/* Returns true if the header is the one that this key and place have most often. */
static bool has_usual_header(const decryption *d, const skv_key *key)
{
    skv_buf usual;
    bool same;

    skv_buf_init(&usual, SIZE_MAX);
    skv_jwe_put_plain_header(&usual, key->kid, d->place);
    same = usual.len && usual.len == d->jwe.header.len && memcmp(usual.bytes, d->jwe.header.bytes, usual.len) == 0;
    skv_buf_free(&usual);
    return same;
}

static bool is_spelled(skv_span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.bytes, text, span.len) == 0;
}

/* The tag has proved the header. */
static skv_status check_place(const decryption *d, const skv_jwe_header *header)
{
    if (is_spelled(d->place->backend, header->backend) && is_spelled(d->place->path, header->path))
        return SKV_OK;
    return skv_fail(d->reply, SKV_MALFORMED,
                    "its document was encrypted for '%s' of the backend '%s', and copied or moved here ('%.*s'): "
                    "store the value again",
                    header->path, header->backend, (int)d->place->backend.len, d->place->backend.bytes);
}

static skv_status open_by_header(decryption *d)
{
    skv_jwe_header header;
    const skv_key *key;

    if (skv_jwe_read_header(&d->jwe, &header, d->reply) == SKV_OK) {
        key = skv_keys_find(d->keys, header.kid);
        if (!key)
            skv_fail(d->reply, SKV_DENIED,
                     "it was encrypted with the key '%s', which is not in %s, the file of 'encryption_keys'",
                     header.kid, skv_keyring_file(d->keyring));
        else if (open_with(d, key) == SKV_OK)
            check_place(d, &header);
    }
    json_decref(header.tree);
    return d->reply->status;
}

skv_status skv_keyring_decrypt(skv_keyring *keyring, const char *backend, size_t backend_len, const char *path,
                               size_t path_len, const char *document, size_t document_len, skv_reply *reply)
{
    const skv_place given = {{backend, backend_len}, {path, path_len}};
    const skv_span span = {document, document_len};
    place_of_call place;
    decryption d = {.keyring = keyring, .place = &place.place, .reply = reply};
    skv_keys *keys;

    skv_reply_reset(reply);
    if (check_arguments(keyring, &given, span, reply) != SKV_OK)
        return reply->status;
    if (skv_jwe_find(span, &d.jwe, reply) != SKV_OK)
        return name_document(given.path, reply);
    /* Paths of plain documents may have any bytes. */
    if (!d.jwe.header.bytes || normalise_place(&place, &given, reply) != SKV_OK)
        return reply->status;
    d.keys = keys = skv_keyring_take(keyring, reply);
    if (!keys)
        return reply->status;
    if (has_usual_header(&d, &keys->key[0]))
        open_with(&d, &keys->key[0]);
    else
        open_by_header(&d);
    skv_keyring_release(keys);
    if (reply->status != SKV_OK)
        return name_document(place.place.path, reply);
    reply->number = 1;
    return SKV_OK;
}

skv_status skv_document_kid(const char *document, size_t document_len, skv_reply *reply)
{
    skv_jwe_header header;
    skv_jwe jwe;

    skv_reply_reset(reply);
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
