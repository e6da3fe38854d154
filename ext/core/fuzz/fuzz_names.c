/* What the first byte says: a key is checked, joined, made into a DN, and that read back as the same key; or any text
 * is read as a DN, and what that is makes a DN that is read back. */
#include "simpkv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BASE "ou=simpkv,o=puppet,dc=simp", 26
#define ID "site", 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of the reply's data, which the next call overwrites; to be freed. */
static char *copy_of(const skv_reply *reply)
{
    char *copy = malloc(skv_reply_size(reply) + 1);

    return memcpy(copy, skv_reply_data(reply), skv_reply_size(reply) + 1);
}

/* What skv_path_from_dn() says of the DN of a path is that path. */
static void is_read_back(int layout, int kind, const char *path, size_t len, skv_reply *reply)
{
    char *dn;

    if (skv_dn_from_path(layout, kind, BASE, ID, path, len, reply) != SKV_OK)
        return;
    dn = copy_of(reply);
    assert(skv_path_from_dn(layout, BASE, ID, dn, strlen(dn), reply) == SKV_OK);
    assert(skv_reply_size(reply) == len && memcmp(skv_reply_data(reply), path, len) == 0);
    free(dn);
}

/* Below "environments/dev", and nowhere else: a key has no way out. */
static void key(int layout, int kind, const char *text, size_t len, skv_reply *reply)
{
    static const char prefix[] = "environments/dev";
    char *path;

    skv_key_check(text, len, SKV_KEY_UPPER, reply);
    if (skv_key_join(prefix, sizeof prefix - 1, text, len, reply) != SKV_OK)
        return;
    path = copy_of(reply);
    assert(strncmp(path, prefix, sizeof prefix - 1) == 0 && strchr("/", path[sizeof prefix - 1]));
    assert(!strstr(path, "/../") && !strstr(path, "/./") && !strstr(path, "//"));
    is_read_back(layout, kind, path, strlen(path), reply);
    free(path);
}

static void dn(int layout, const char *text, size_t len, skv_reply *reply)
{
    int64_t kind;
    char *path;

    if (skv_path_from_dn(layout, BASE, ID, text, len, reply) != SKV_OK)
        return;
    kind = skv_reply_number(reply);
    path = copy_of(reply);
    is_read_back(layout, kind == SKV_KIND_NONE ? SKV_KIND_KEY : (int)kind, path, strlen(path), reply);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    skv_reply *reply;
    const char *text = (const char *)data + 1;
    int layout;

    if (size == 0)
        return -1;
    reply = skv_reply_new();
    layout = data[0] & 1;
    if (data[0] & 4)
        dn(layout, text, size - 1, reply);
    else
        key(layout, data[0] & 2 ? SKV_KIND_KEY : SKV_KIND_FOLDER, text, size - 1, reply);
    skv_filter_escape(text, size - 1, reply);
    skv_reply_free(reply);
    return 0;
}
