/* memory.c - jansson's memory, whose trees and buffers hold values and keys: it comes from the seam of base/buf.h, and
 * is wiped thus. docs/adr/0055 says why this is safe beside other users of jansson in the process. */
#include "json/memory.h"

#include "base/buf.h"

#include <jansson.h>
#include <stdlib.h>

/* Of the thread, since the call of skv_json_memory_watch(). */
static _Thread_local bool has_failed;

static void *alloc_for_jansson(size_t size)
{
    void *memory = skv_alloc(size);

    if (!memory)
        has_failed = true;
    return memory;
}

void skv_json_memory_watch(void)
{
    has_failed = false;
}

bool skv_json_memory_failed(void)
{
    return has_failed;
}

/* Leaves functions alone that a program has set: their blocks may not be malloc's. */
__attribute__((constructor)) static void wipe_what_jansson_frees(void)
{
    json_malloc_t allocates;
    json_free_t frees;

    json_get_alloc_funcs(&allocates, &frees);
    if (allocates == malloc && frees == free)
        json_set_alloc_funcs(alloc_for_jansson, skv_free);
}
