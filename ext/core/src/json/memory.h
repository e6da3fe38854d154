/* json/memory.h - allocations of jansson that fail. Its reader ignores some of them, and loses characters of a text. */
#ifndef SKV_JSON_MEMORY_H
#define SKV_JSON_MEMORY_H

#include <stdbool.h>

/* Returns true if an allocation has failed in this thread since skv_json_memory_watch(). Always false if a program has
 * set functions of its own for jansson. */
bool skv_json_memory_failed(void);
void skv_json_memory_watch(void);

#endif
