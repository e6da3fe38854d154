/* The first byte selects: a key is checked, joined and made into a DN that names the same key; or any text is read as a
 * DN. */
#include "names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BASE "ou=simpkv,o=puppet,dc=simp", 26
#define ID "site", 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns a copy of the reply's data, which the next call overwrites. The caller frees it. */
static char *copy_of(const skv_reply *reply)
{
    char *copy = malloc(skv_reply_size(reply) + 1);

    return memcpy(copy, skv_reply_data(reply), skv_reply_size(reply) + 1);
}

static void is_named_by_its_dn(int layout, int kind, const char *path, skv_reply *reply)
{
    if (skv_dn_from_path(layout, kind, BASE, ID, path, strlen(path), reply) == SKV_OK)
        assert(names_path(skv_reply_data(reply), path, strlen(path)));
}

/* Checks that a key stays below "environments/dev". */
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
    is_named_by_its_dn(layout, kind, path, reply);
    free(path);
}

/* Checks that each RDN lies within the DN, and that skv_dn_above() and skv_rdn_next() find the same rest of the DN. */
static void dn(const char *text, size_t len)
{
    const char *rest = text;
    skv_rdn rdn;
    int count = 0;

    for (; len && skv_rdn_next(&rest, text + len, &rdn); skv_rdn_unhex(&rdn)) {
        assert(rdn.len <= sizeof rdn.value && rdn.type >= text && rdn.type + rdn.type_len <= text + len);
        assert(skv_dn_above(text, len, ++count) == rest);
    }
    assert(count <= skv_dn_depth(text, len));
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
        dn(text, size - 1);
    else
        key(layout, data[0] & 2 ? SKV_KIND_KEY : SKV_KIND_FOLDER, text, size - 1, reply);
    skv_reply_free(reply);
    return 0;
}
