#include "crypt/keyring.h"

#include <pthread.h>
#include <string.h>

struct skv_keyring {
    char *file;
    skv_keys *keys; /* guarded by the lock */
};

/* One lock for all keyrings, held for a few instructions, and during a fork, so that a child never gets it locked. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t forks_are_watched = PTHREAD_ONCE_INIT;

static void lock_keyrings(void)
{
    pthread_mutex_lock(&lock);
}

static void unlock_keyrings(void)
{
    pthread_mutex_unlock(&lock);
}

static void watch_forks_of_keyrings(void)
{
    pthread_atfork(lock_keyrings, unlock_keyrings, unlock_keyrings);
}

/* ---- The keys of a keyring ---- */

/* Takes the keys if they are those of the file with this stamp. */
static skv_keys *take_current(skv_keyring *keyring, const skv_stamp *stamp)
{
    skv_keys *keys;

    lock_keyrings();
    keys = keyring->keys;
    if (keys && !skv_stamp_equals(&keys->stamp, stamp))
        keys = NULL;
    if (keys)
        keys->users++;
    unlock_keyrings();
    return keys;
}

/* Puts new keys in place, whose user is the caller. */
static void replace_keys(skv_keyring *keyring, skv_keys *keys)
{
    skv_keys *old;

    keys->users = 2;
    lock_keyrings();
    old = keyring->keys;
    keyring->keys = keys;
    unlock_keyrings();
    skv_keyring_release(old);
}

skv_keys *skv_keyring_take(skv_keyring *keyring, skv_reply *reply)
{
    skv_stamp stamp = skv_stamp_of(keyring->file);
    skv_keys *keys = take_current(keyring, &stamp);

    if (keys)
        return keys;
    keys = skv_keys_read(keyring->file, reply);
    if (keys)
        replace_keys(keyring, keys);
    else
        skv_reply_set_fault(reply, SKV_FAULT_ENCRYPTION_KEYS);
    return keys;
}

void skv_keyring_release(skv_keys *keys)
{
    bool unused;

    if (!keys)
        return;
    lock_keyrings();
    unused = --keys->users == 0;
    unlock_keyrings();
    if (unused)
        skv_keys_free(keys);
}

const char *skv_keyring_file(const skv_keyring *keyring)
{
    return keyring->file;
}

/* ---- The interface ---- */

static skv_status read_first(skv_keyring *keyring, skv_reply *reply)
{
    skv_keyring_release(skv_keyring_take(keyring, reply));
    return reply->status;
}

skv_keyring *skv_keyring_open(const char *file, size_t file_len, skv_reply *reply)
{
    skv_keyring *keyring;

    if (skv_reply_begin(reply) != SKV_OK)
        return NULL;
    if (!file || !file_len || file[0] != '/' || memchr(file, '\0', file_len)) {
        skv_fail(reply, SKV_INVALID, "the file of 'encryption_keys' must have an absolute path");
        return NULL;
    }
    pthread_once(&forks_are_watched, watch_forks_of_keyrings);
    keyring = skv_alloc_zeroed(1, sizeof *keyring);
    if (keyring)
        keyring->file = skv_copy_string(file, file_len);
    if (!keyring || !keyring->file)
        skv_fail_memory(reply);
    else if (read_first(keyring, reply) == SKV_OK)
        return keyring;
    skv_keyring_close(keyring);
    return NULL;
}

void skv_keyring_close(skv_keyring *keyring)
{
    if (!keyring)
        return;
    skv_keyring_release(keyring->keys);
    skv_free(keyring->file);
    skv_free(keyring);
}

skv_status skv_keyring_kids(skv_keyring *keyring, skv_reply *reply)
{
    skv_keys *keys;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!keyring)
        return skv_fail(reply, SKV_INVALID, "the keyring is NULL");
    keys = skv_keyring_take(keyring, reply);
    for (size_t i = 0; keys && i < keys->count; i++)
        skv_buf_put(&reply->data, keys->key[i].kid, strlen(keys->key[i].kid) + 1);
    skv_keyring_release(keys);
    return skv_reply_done(reply);
}
