#include "base/stamp.h"

#include <string.h>

skv_stamp skv_stamp_from(const struct stat *file)
{
    return (skv_stamp){{(int64_t)file->st_dev, (int64_t)file->st_ino, file->st_size, file->st_mtim.tv_sec,
                        file->st_mtim.tv_nsec, file->st_ctim.tv_sec, file->st_ctim.tv_nsec}};
}

skv_stamp skv_stamp_of(const char *path)
{
    struct stat file;

    if (stat(path, &file) < 0)
        return (skv_stamp){{0}};
    return skv_stamp_from(&file);
}

bool skv_stamp_equals(const skv_stamp *a, const skv_stamp *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
