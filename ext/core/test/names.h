/* names.h - reads the names in a DN back: for its tests and the fuzz target. */
#ifndef SKV_TEST_NAMES_H
#define SKV_TEST_NAMES_H

#include "name/dn.h"

#include <string.h>

/* Returns true if the first RDNs of the DN are the segments of the path, the last segment first. */
static bool names_path(const char *dn, const char *path, size_t len)
{
    const char *rest = dn, *end = dn + strlen(dn), *stop = path + len;
    skv_rdn rdn;

    while (stop > path) {
        const char *slash = memrchr(path, '/', (size_t)(stop - path)), *name = slash ? slash + 1 : path;

        if (!skv_rdn_next(&rest, end, &rdn))
            return false;
        skv_rdn_unhex(&rdn); /* changes a simpkvHexId alone */
        if (rdn.len != (size_t)(stop - name) || memcmp(rdn.value, name, rdn.len) != 0)
            return false;
        stop = slash ? slash : path;
    }
    return true;
}

#endif
