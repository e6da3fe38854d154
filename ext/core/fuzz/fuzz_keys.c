/* A file of keys. Those that are read have distinct names; refused ones have a message without a key. */
#include "crypt/keys.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;
static char path[64];

static void make_file(void)
{
    file = memfd_create("keys", 0);
    assert(file >= 0 && fchmod(file, 0600) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    skv_reply *reply = skv_reply_new();
    skv_keys *keys;

    if (file < 0)
        make_file();
    assert(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    keys = skv_keys_read(path, reply);
    assert(!keys == (skv_reply_status(reply) != SKV_OK) && !keys == (skv_reply_message(reply)[0] != '\0'));
    assert(!keys || keys->count > 0);
    for (size_t i = 0; keys && i < keys->count; i++)
        assert(keys->key[i].kid[0] && skv_keys_find(keys, keys->key[i].kid) == &keys->key[i]);
    skv_keys_free(keys);
    skv_reply_free(reply);
    return 0;
}
