#include "freed.h"

#include "check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Finds each piece of 24 bytes, and most shorter ones. */
#define PIECE 16
#define STEP 8

atomic_bool watching;
atomic_int looked, spilled;

void __libc_free(void *block);

static bool has_piece(const void *block, size_t size, const char *secret, size_t len)
{
    const size_t piece = len < PIECE ? len : PIECE;

    for (size_t at = 0; at + piece <= len; at += STEP)
        if (memmem(block, size, secret + at, piece))
            return true;
    return memmem(block, size, secret + len - piece, piece) != NULL;
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

#define STACK_SIZE ((size_t)1 << 20)

char *stack_of(void *(*run)(void *), void *argument)
{
    char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;

    if (!CHECK(stack != MAP_FAILED))
        abort();
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstack(&attributes, stack, STACK_SIZE) == 0);
    CHECK(pthread_create(&thread, &attributes, run, argument) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return stack;
}

bool stack_has(const char *stack, const void *secret, size_t len)
{
    return has_piece(stack, STACK_SIZE, secret, len);
}

void free_stack(char *stack)
{
    munmap(stack, STACK_SIZE);
}

const char *spilled_on_stack(void *(*run)(void *), void *argument, const char *const *texts)
{
    char *stack = stack_of(run, argument);

    while (*texts && !stack_has(stack, *texts, strlen(*texts)))
        texts++;
    free_stack(stack);
    return *texts;
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
