/* base/record.h - packs the records of pages: see skv_list_next(), and skv_page_read(), which unpacks them. */
#ifndef SKV_BASE_RECORD_H
#define SKV_BASE_RECORD_H

#include "base/buf.h"
#include "simpkv.h"

/* Appends a record. The buffer becomes too large for one whose name or body has 4 GiB or more. */
void skv_page_put(skv_buf *page, char kind, const char *name, size_t name_len, const char *body, size_t body_len);

/* Puts the body, which the buffer ends with, into the record that begins at `start` and has an empty one so far. */
void skv_page_end(skv_buf *page, size_t start);

#endif
