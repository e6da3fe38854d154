/* With any options, a store opens or fails with a message. The first byte chooses the type; names and values follow,
 * each ending in a NUL. */
#include "net/pool.h"
#include "simpkv.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pools live as long as the process: one pool serves all inputs. */
skv_pool *__wrap_skv_pool_for(const skv_uris *uris, const skv_identity *identity, skv_reply *reply);

skv_pool *__wrap_skv_pool_for(const skv_uris *uris, const skv_identity *identity, skv_reply *reply)
{
    static char pool;

    (void)uris, (void)identity, (void)reply;
    return (skv_pool *)&pool;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool in_files = size && (data[0] & 1);
    skv_reply *reply;
    skv_store *store;

    /* A store in files makes its root, which must not contain a slash here. */
    if (size == 0 || (in_files && memchr(data, '/', size)))
        return -1;
    reply = skv_reply_new();
    store = skv_open(in_files ? "file" : "ldap", 4, (const char *)data + 1, size - 1, reply);
    assert(store ? skv_reply_status(reply) == SKV_OK : skv_reply_status(reply) != SKV_OK && *skv_reply_message(reply));
    if (store)
        skv_close(store);
    skv_reply_free(reply);
    return 0;
}
