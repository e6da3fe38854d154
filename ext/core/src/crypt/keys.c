#include "crypt/keys.h"

#include "base/base64.h"
#include "base/io.h"
#include "json/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX 1048576 /* bytes in the file */
#define KEYS_MAX 1000
#define CODED_KEY 43 /* characters of base64url in a key */

/* The file while it is read. */
typedef struct key_file {
    const char *path;
    char *text;
    size_t len, size; /* read; of the file */
    skv_reply *reply;
} key_file;

#define FAIL(file, format, ...)                                                                                        \
    skv_fail((file)->reply, SKV_INVALID, "the file of 'encryption_keys', %s, " format, (file)->path, __VA_ARGS__)

/* ---- Reading ---- */

static skv_status check_file(const key_file *file, const struct stat *found)
{
    if (!S_ISREG(found->st_mode))
        return FAIL(file, "%s", "is not a file");
    if (found->st_uid != 0 && found->st_uid != geteuid())
        return skv_fail(file->reply, SKV_DENIED,
                        "the file of 'encryption_keys', %s, belongs to the user %d, who could change the keys: it must "
                        "belong to root or to the user of this process (%d)",
                        file->path, (int)found->st_uid, (int)geteuid());
    if (found->st_mode & (S_IRWXO | S_IWGRP))
        return skv_fail(file->reply, SKV_DENIED,
                        "the file of 'encryption_keys', %s, has the mode %04o: only its owner may write it, and only "
                        "its owner and its group may read it (chmod g-w,o= %s)",
                        file->path, (unsigned)found->st_mode & 07777U, file->path);
    if (found->st_size > FILE_MAX)
        return FAIL(file, "is larger than %d bytes", FILE_MAX);
    return SKV_OK;
}

static skv_status read_bytes(key_file *file, int fd)
{
    ssize_t got = skv_read_bytes(fd, file->text, file->size);

    if (got < 0)
        return skv_fail_errno(file->reply, errno, "cannot read %s, the file of 'encryption_keys'", file->path);
    file->len = (size_t)got;
    return SKV_OK;
}

/* Returns false if it failed. */
static bool read_file(key_file *file, skv_stamp *stamp)
{
    struct stat found;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 && errno == ENOENT)
        FAIL(file, "%s",
             "does not exist: copy it from another compiler, or make it ('simpkv keys generate') if no document is "
             "encrypted");
    else if (fd < 0)
        skv_fail_errno(file->reply, errno, "cannot read %s, the file of 'encryption_keys'", file->path);
    else if (fstat(fd, &found) < 0)
        skv_fail_errno(file->reply, errno, "cannot look at %s, the file of 'encryption_keys'", file->path);
    else if (check_file(file, &found) == SKV_OK) {
        *stamp = skv_stamp_from(&found);
        file->size = (size_t)found.st_size;
        file->text = skv_alloc(file->size);
        if (!file->text)
            skv_fail_memory(file->reply);
        else
            read_bytes(file, fd);
    }
    if (fd >= 0)
        close(fd);
    return file->text && file->reply->status == SKV_OK;
}

/* ---- The set ---- */

/* Returns true if the string is in the file as it is. jansson loses characters of a string when memory runs out. */
static bool is_verbatim(const key_file *file, const char *string)
{
    char quoted[SKV_KID_MAX + 3];
    int len = snprintf(quoted, sizeof quoted, "\"%s\"", string);
    bool found = memmem(file->text, file->len, quoted, (size_t)len) != NULL;

    explicit_bzero(quoted, sizeof quoted);
    return found;
}

/* Fails unless the kid can stand in a header without escapes, in a message and on a command line. */
static skv_status check_kid(const key_file *file, const char *kid, size_t number)
{
    size_t len = kid ? strlen(kid) : 0;

    if (!len || len > SKV_KID_MAX)
        return FAIL(file, "key %zu has no kid, or one of more than %d characters", number, SKV_KID_MAX);
    for (size_t i = 0; i < len; i++)
        if (kid[i] < ' ' || kid[i] > '~' || kid[i] == '"' || kid[i] == '\\')
            return FAIL(file, "key %zu has a kid with a character other than printable ASCII without \" and \\",
                        number);
    if (!is_verbatim(file, kid))
        return FAIL(file, "the kid of key %zu must be written without escapes", number);
    return SKV_OK;
}

static bool is_absent_or(const json_t *member, const char *expected)
{
    const char *text = json_string_value(member);

    return !member || (text && strcmp(text, expected) == 0);
}

static skv_status read_key(const key_file *file, const json_t *jwk, size_t number, skv_secret *key)
{
    const char *kid = json_string_value(json_object_get(jwk, "kid"));
    const json_t *secret = json_object_get(jwk, "k");

    if (!json_is_object(jwk))
        return FAIL(file, "key %zu is not an object", number);
    if (check_kid(file, kid, number) != SKV_OK)
        return file->reply->status;
    if (!json_object_get(jwk, "kty") || !is_absent_or(json_object_get(jwk, "kty"), "oct"))
        return FAIL(file, "key %zu ('%s') has another kty than \"oct\"", number, kid);
    if (!is_absent_or(json_object_get(jwk, "alg"), "A256GCM"))
        return FAIL(file, "key %zu ('%s') has another alg than \"A256GCM\"", number, kid);
    if (!is_absent_or(json_object_get(jwk, "use"), "enc"))
        return FAIL(file, "key %zu ('%s') has another use than \"enc\"", number, kid);
    if (json_string_length(secret) != CODED_KEY ||
        !skv_base64url_decode(json_string_value(secret), CODED_KEY, key->bytes) ||
        !is_verbatim(file, json_string_value(secret)))
        return FAIL(file, "the k of key %zu ('%s') is not %d bytes in base64url without padding", number, kid,
                    SKV_KEY_SIZE);
    memcpy(key->kid, kid, strlen(kid) + 1);
    return SKV_OK;
}

static skv_status read_keys(const key_file *file, const json_t *list, skv_keys *keys)
{
    size_t count = json_array_size(list);

    if (!json_is_array(list) || !count)
        return FAIL(file, "%s",
                    "has no keys: it must be a JWK Set, {\"keys\":[...]} ('simpkv keys generate' makes it)");
    if (count > KEYS_MAX)
        return FAIL(file, "has %zu keys: %d are allowed", count, KEYS_MAX);
    keys->key = skv_alloc_zeroed(count, sizeof *keys->key);
    if (!keys->key)
        return skv_fail_memory(file->reply);
    keys->count = count;
    for (size_t i = 0; i < count; i++) {
        skv_secret *key = &keys->key[i];

        if (read_key(file, json_array_get(list, i), i + 1, key) != SKV_OK)
            return file->reply->status;
        if (skv_keys_find(keys, key->kid) != key)
            return FAIL(file, "has two keys with the kid '%s'", key->kid);
    }
    return SKV_OK;
}

static skv_status parse_file(const key_file *file, skv_keys *keys)
{
    json_error_t error;
    json_t *set = skv_json_load(file->text, file->len, 0, &error, file->reply);

    if (set)
        read_keys(file, json_object_get(set, "keys"), keys);
    else
        FAIL(file, "is not JSON, or has a member twice: line %d, column %d", error.line, error.column);
    json_decref(set);
    return file->reply->status;
}

/* ---- The interface ---- */

skv_keys *skv_keys_read(const char *path, skv_reply *reply)
{
    key_file file = {.path = path, .reply = reply};
    skv_keys *keys = skv_alloc_zeroed(1, sizeof *keys);

    if (!keys)
        skv_fail_memory(reply);
    else if (read_file(&file, &keys->stamp))
        parse_file(&file, keys);
    skv_free(file.text);
    if (keys && reply->status != SKV_OK) {
        skv_keys_free(keys);
        return NULL;
    }
    return keys;
}

void skv_keys_free(skv_keys *keys)
{
    if (!keys)
        return;
    skv_free(keys->key);
    skv_free(keys);
}

const skv_secret *skv_keys_find(const skv_keys *keys, const char *kid)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->key[i].kid, kid) == 0)
            return &keys->key[i];
    return NULL;
}
