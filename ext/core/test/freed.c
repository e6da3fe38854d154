#include "freed.h"

#include "check.h"

#include <malloc.h>
#include <string.h>

/* Finds each piece of 24 bytes, and most shorter ones. */
#define PIECE 16
#define STEP 8

atomic_bool watching;
atomic_int looked, spilled;

void __libc_free(void *block);

static bool has_piece(const void *block, size_t size, const char *secret, size_t len)
{
    for (size_t at = 0; at + PIECE <= len; at += STEP)
        if (memmem(block, size, secret + at, PIECE))
            return true;
    return memmem(block, size, secret + len - PIECE, PIECE) != NULL;
}

atomic_bool recording;
static char record[1 << 26];
static atomic_size_t recorded;

static void record_block(const void *block, size_t size)
{
    size_t at = atomic_fetch_add(&recorded, size);

    if (at + size <= sizeof record)
        memcpy(record + at, block, size);
}

bool was_freed(const void *secret, size_t len)
{
    size_t size = atomic_load(&recorded);

    return CHECK(size <= sizeof record) && has_piece(record, size, secret, len);
}

__attribute__((visibility("default"))) void free(void *block)
{
    size_t size = block ? malloc_usable_size(block) : 0;
    bool found = false;

    if (watching && block) {
        looked++;
        for (size_t i = 0; secrets[i] && !found; i++)
            found = has_piece(block, size, secrets[i], strlen(secrets[i]));
        spilled += found;
    } else if (block && recording) {
        record_block(block, size);
    } else if (block) {
        explicit_bzero(block, size);
    }
    __libc_free(block);
}

void a_block_with_a_secret_is_seen(void)
{
    char *block = strdup(secrets[0]);

    watching = true;
    free(block);
    watching = false;
    CHECK(spilled == 1);
    spilled = 0;
}
