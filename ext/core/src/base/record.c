#include "base/record.h"

#include <string.h>

#define HEADER (1 + 2 * sizeof(uint32_t))

size_t skv_page_read(const char *page, size_t page_len, skv_page_record *record)
{
    uint32_t lengths[2];

    if (!page || page_len < HEADER)
        return 0;
    memcpy(lengths, page + 1, sizeof lengths);
    if (page_len - HEADER < (size_t)lengths[0] + lengths[1])
        return 0;
    *record = (skv_page_record){.kind = *page,
                                .name = page + HEADER,
                                .body = page + HEADER + lengths[0],
                                .name_len = lengths[0],
                                .body_len = lengths[1]};
    return HEADER + (size_t)lengths[0] + lengths[1];
}

void skv_page_put(skv_buf *page, char kind, const char *name, size_t name_len, const char *body, size_t body_len)
{
    const uint32_t lengths[] = {(uint32_t)name_len, (uint32_t)body_len};

    if (name_len > UINT32_MAX || body_len > UINT32_MAX) {
        page->too_large = true;
        return;
    }
    skv_buf_put_char(page, kind);
    skv_buf_put(page, lengths, sizeof lengths);
    skv_buf_put(page, name, name_len);
    skv_buf_put(page, body, body_len);
}

void skv_page_end(skv_buf *page, size_t start)
{
    uint32_t lengths[2];
    char *at = page->bytes + start + 1;

    memcpy(lengths, at, sizeof lengths);
    lengths[1] = (uint32_t)(page->len - start - HEADER - lengths[0]);
    memcpy(at, lengths, sizeof lengths);
}
