/* memory.c - jansson's memory, whose trees and buffers hold values and keys: it comes from the seam of base/buf.h, and
 * is wiped thus. docs/adr/0055 says why this is safe beside other users of jansson in the process. */
#include "base/buf.h"

#include <jansson.h>
#include <stdlib.h>

/* Leaves functions alone that a program has set: their blocks may not be malloc's. */
__attribute__((constructor)) static void wipe_what_jansson_frees(void)
{
    json_malloc_t allocates;
    json_free_t frees;

    json_get_alloc_funcs(&allocates, &frees);
    if (allocates == malloc && frees == free)
        json_set_alloc_funcs(skv_alloc, skv_free);
}
