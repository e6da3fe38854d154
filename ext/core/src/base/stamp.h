/* base/stamp.h - the identity of a file's content, for data that are derived from it. */
#ifndef SKV_BASE_STAMP_H
#define SKV_BASE_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Changes when the content of the file does. All zero for a file that does not exist or cannot be looked at. */
typedef struct skv_stamp {
    int64_t part[7];
} skv_stamp;

/* Looks at the file without reading it. */
skv_stamp skv_stamp_of(const char *path);

/* The same for a file that stat(2) or fstat(2) has looked at. */
skv_stamp skv_stamp_from(const struct stat *file);

bool skv_stamp_equals(const skv_stamp *a, const skv_stamp *b);

#endif
