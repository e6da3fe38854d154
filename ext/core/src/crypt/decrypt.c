#include "crypt/decrypt.h"

#include "base/base64.h"

#include <string.h>

skv_status skv_name_document(skv_span path, skv_reply *reply)
{
    skv_status status = reply->status;
    skv_fault fault = reply->fault;
    char *reason;

    if (status != SKV_MALFORMED && status != SKV_DENIED && status != SKV_UNAVAILABLE)
        return status;
    reason = skv_copy_string(reply->message, strlen(reply->message));
    if (!reason)
        return status;
    skv_reply_reset(reply);
    skv_fail(reply, status, "cannot decrypt '%.*s': %s", (int)path.len, path.bytes, reason);
    skv_free(reason);
    return skv_reply_set_fault(reply, fault);
}

skv_status skv_decryption_begin(skv_decryption *d, skv_keyring *keyring, skv_reply *reply)
{
    *d = (skv_decryption){.keyring = keyring, .keys = skv_keyring_take(keyring, reply)};
    if (d->keys)
        d->cipher = skv_cipher_new(false);
    return d->keys && !d->cipher ? skv_fail_memory(reply) : reply->status;
}

void skv_decryption_end(skv_decryption *d)
{
    skv_cipher_free(d->cipher);
    skv_keyring_release(d->keys);
}

/* Decrypts with the key, whatever the header says. */
static skv_status open_with(const skv_decryption *d, const skv_secret *key, const skv_jwe *jwe, skv_buf *out,
                            skv_reply *reply)
{
    skv_sealed sealed = {.header = jwe->header, .len = skv_base64url_size(jwe->text.len)};

    if (!skv_buf_reserve(out, sealed.len))
        return out->no_memory ? skv_fail_memory(reply)
                              : skv_fail(reply, SKV_TOO_LARGE, "more than %d bytes", SKV_DATA_MAX);
    sealed.text = (unsigned char *)out->bytes + out->len;
    if (!skv_base64url_decode(jwe->iv.bytes, jwe->iv.len, sealed.iv) ||
        !skv_base64url_decode(jwe->tag.bytes, jwe->tag.len, sealed.tag) ||
        !skv_base64url_decode(jwe->text.bytes, jwe->text.len, sealed.text))
        return skv_fail(reply, SKV_MALFORMED, "its encrypted document is damaged: a part of it is not base64url");
    out->len += sealed.len;
    out->bytes[out->len] = '\0';
    return skv_cipher_open(d->cipher, key, &sealed, reply);
}

/* Returns true if the header is the one that this key and place have most often. */
static bool has_usual_header(const skv_jwe *jwe, const skv_secret *key, const skv_place *place)
{
    skv_buf usual;
    bool same;

    skv_buf_init(&usual, SIZE_MAX);
    skv_jwe_put_header(&usual, key->kid, place);
    same = !skv_buf_failed(&usual) && usual.len == jwe->header.len &&
           memcmp(usual.bytes, jwe->header.bytes, usual.len) == 0;
    skv_buf_free(&usual);
    return same;
}

static bool is_spelled(skv_span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.bytes, text, span.len) == 0;
}

/* The tag has proved the header. */
static skv_status check_place(const skv_place *place, const skv_jwe_header *header, skv_reply *reply)
{
    if (is_spelled(place->backend, header->backend) && is_spelled(place->path, header->path))
        return SKV_OK;
    return skv_fail(reply, SKV_MALFORMED,
                    "its document was encrypted for '%s' of the backend '%s', and copied or moved here ('%.*s'): "
                    "store the value again",
                    header->path, header->backend, (int)place->backend.len, place->backend.bytes);
}

static skv_status open_by_header(const skv_decryption *d, const skv_place *place, const skv_jwe *jwe, skv_buf *out,
                                 skv_reply *reply)
{
    skv_jwe_header header;
    const skv_secret *key;

    if (skv_jwe_read_header(jwe, &header, reply) == SKV_OK) {
        key = skv_keys_find(d->keys, header.kid);
        if (!key) {
            skv_fail(reply, SKV_DENIED,
                     "it was encrypted with the key '%s', which is not in %s, the file of 'encryption_keys': bring the "
                     "newest file to this machine, or restore the key from a backup",
                     header.kid, skv_keyring_file(d->keyring));
            skv_reply_set_fault(reply, SKV_FAULT_ENCRYPTION_KEYS);
        } else if (open_with(d, key, jwe, out, reply) == SKV_OK)
            check_place(place, &header, reply);
    }
    json_decref(header.tree);
    return reply->status;
}

skv_status skv_decryption_run(skv_decryption *d, const skv_place *place, const skv_jwe *jwe, skv_buf *out,
                              skv_reply *reply)
{
    const skv_secret *first = &d->keys->key[0];
    size_t before = out->len;

    if (has_usual_header(jwe, first, place))
        open_with(d, first, jwe, out, reply);
    else
        open_by_header(d, place, jwe, out, reply);
    if (reply->status == SKV_OK)
        return SKV_OK;
    /* A failed reply has dropped its own data. */
    if (out->len > before)
        skv_buf_truncate(out, before);
    return skv_name_document(place->path, reply);
}
