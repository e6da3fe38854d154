#include "base/buf.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef SKV_CHAOS
/* In the chaos build, a test decides which allocation fails. */
bool skv_chaos_fails(void);
#else
static inline bool skv_chaos_fails(void)
{
    return false;
}
#endif

void *skv_alloc(size_t size)
{
    return skv_chaos_fails() ? NULL : malloc(size ? size : 1);
}

void *skv_alloc_zeroed(size_t count, size_t size)
{
    return skv_chaos_fails() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

/* Wipes the whole block, which may be larger than what was asked for. A program that is built with _FORTIFY_SOURCE ends
 * itself at such a write if the compiler knows that size. The empty statement hides from it where the block comes from.
 */
void skv_free(void *memory)
{
    __asm__("" : "+r"(memory));
    if (memory)
        explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

char *skv_copy_string(const char *bytes, size_t len)
{
    char *copy = len < SIZE_MAX ? skv_alloc(len + 1) : NULL;

    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

void skv_buf_init(skv_buf *buf, size_t max)
{
    *buf = (skv_buf){.max = max};
}

void skv_buf_free(skv_buf *buf)
{
    skv_free(buf->bytes);
    skv_buf_init(buf, buf->max);
}

void skv_buf_clear(skv_buf *buf)
{
    buf->no_memory = buf->too_large = false;
    skv_buf_truncate(buf, 0);
}

/* Not realloc, which frees the old block without wiping it. */
static bool move_block(skv_buf *buf, size_t size)
{
    char *bytes = skv_alloc(size);

    if (!bytes)
        return false;
    if (buf->len)
        memcpy(bytes, buf->bytes, buf->len);
    bytes[buf->len] = '\0';
    skv_free(buf->bytes);
    buf->bytes = bytes;
    buf->size = size;
    return true;
}

bool skv_buf_grow(skv_buf *buf, size_t more)
{
    size_t needed, size;

    if (skv_buf_failed(buf))
        return false;
    if (more > buf->max - buf->len || buf->len + more > SIZE_MAX / 2 - 1) {
        buf->too_large = true;
        return false;
    }
    needed = buf->len + more + 1;
    if (needed <= buf->size)
        return true;
    size = buf->size ? buf->size * 2 : 64;
    while (size < needed)
        size *= 2;
    if (size > buf->max)
        size = buf->max + 1;
    buf->no_memory = !move_block(buf, size);
    return !buf->no_memory;
}

void skv_buf_put(skv_buf *buf, const void *bytes, size_t len)
{
    if (!skv_buf_reserve(buf, len) || !len)
        return;
    memcpy(buf->bytes + buf->len, bytes, len);
    buf->len += len;
    buf->bytes[buf->len] = '\0';
}

void skv_buf_put_string(skv_buf *buf, const char *string)
{
    skv_buf_put(buf, string, strlen(string));
}

void skv_buf_truncate(skv_buf *buf, size_t len)
{
    if (!buf->bytes)
        return;
    explicit_bzero(buf->bytes + len, buf->len - len);
    buf->len = len;
    buf->bytes[len] = '\0';
}
