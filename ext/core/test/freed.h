/* freed.h - searches memory that is freed for secrets: its free() replaces the C library's, for all libraries. */
#ifndef SKV_TEST_FREED_H
#define SKV_TEST_FREED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* While this is set, blocks are counted and searched. Otherwise they are wiped: a block that is allocated again and not
 * filled would show what was in it before. */
extern atomic_bool watching;

/* The blocks that were searched, and those of them that had 16 bytes or more of a secret. */
extern atomic_int looked, spilled;

/* The texts of 16 bytes or more to search for; NULL ends the list. */
extern const char *const secrets[];

/* While this is set, the blocks that are freed are recorded: for secrets that are known only later. */
extern atomic_bool recording;

/* Returns true if a recorded block had 16 bytes or more of the secret. Checks that all blocks were recorded. */
bool was_freed(const void *secret, size_t len);

/* Checks that a copy of the first secret is seen. */
void a_block_with_a_secret_is_seen(void);

#endif
