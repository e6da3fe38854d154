/* base/buf.h - memory: the one seam through which the core allocates, and a byte buffer that grows up to a stated
 * maximum.
 */
#ifndef SKV_BASE_BUF_H
#define SKV_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

/* As malloc, calloc and free, whose blocks they are. All memory of the core comes from here, so that a test can make
 * each allocation fail in turn (test/chaos.c). Return NULL when out of memory. skv_free() wipes the block: it may have
 * held a value. */
void *skv_alloc(size_t size);
void *skv_alloc_zeroed(size_t count, size_t size);
void skv_free(void *memory);

/* Returns a NUL-terminated copy that the caller frees with skv_free(); NULL when out of memory. */
char *skv_copy_string(const char *bytes, size_t len);

/*
 * A growing byte string, owned by the holder of the struct. `bytes` is NULL or ends in a NUL that `len` does not count.
 * A buffer that failed (out of memory, or `max` passed) stays failed and ignores further writes, so that a writer
 * checks once, at the end. The buffer wipes bytes that it frees or cuts off: they may have been a value.
 */
typedef struct skv_buf {
    char *bytes;
    size_t len;
    size_t size; /* of the allocation, 0 for none */
    size_t max;  /* the largest len allowed */
    bool no_memory;
    bool too_large;
} skv_buf;

/* Makes an empty buffer that takes up to `max` bytes. Allocates nothing. */
void skv_buf_init(skv_buf *buf, size_t max);

/* Wipes and frees the contents; the buffer is empty again, with the same maximum. */
void skv_buf_free(skv_buf *buf);

/* Wipes and empties the buffer, and clears its failure, but keeps its block. */
void skv_buf_clear(skv_buf *buf);

/* Makes room for `more` bytes behind `len` and a NUL, if necessary in a larger block. Returns false if that fails. */
bool skv_buf_grow(skv_buf *buf, size_t more);

void skv_buf_put(skv_buf *buf, const void *bytes, size_t len);
void skv_buf_put_string(skv_buf *buf, const char *string);
/* Shortens the buffer to `len` bytes, which it must have. */
void skv_buf_truncate(skv_buf *buf, size_t len);

static inline bool skv_buf_failed(const skv_buf *buf)
{
    return buf->no_memory || buf->too_large;
}

/* The same as skv_buf_grow(). The block is never larger than `max` allows, so that a write that fits needs no other
 * check.
 */
static inline bool skv_buf_reserve(skv_buf *buf, size_t more)
{
    return (more < buf->size - buf->len && !skv_buf_failed(buf)) || skv_buf_grow(buf, more);
}

static inline void skv_buf_put_char(skv_buf *buf, char c)
{
    if (!skv_buf_reserve(buf, 1))
        return;
    buf->bytes[buf->len++] = c;
    buf->bytes[buf->len] = '\0';
}

#endif
