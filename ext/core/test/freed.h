/* freed.h - searches memory that is freed for secrets: its free() replaces the C library's, for all libraries. */
#ifndef SKV_TEST_FREED_H
#define SKV_TEST_FREED_H

#include <stdatomic.h>
#include <stdbool.h>

/* While this is set, blocks are counted and searched. Otherwise they are wiped: a block that is allocated again and not
 * filled would show what was in it before. */
extern atomic_bool watching;

/* The blocks that were searched, and those of them that had 16 bytes or more of a secret. */
extern atomic_int looked, spilled;

/* The texts of 16 bytes or more to search for; NULL ends the list. */
extern const char *const secrets[];

/* Runs the function in a thread. Returns the first of the texts, a list that NULL ends, of which the stack of the
 * thread has 16 bytes, or all of a shorter text, afterwards; NULL if it has none. */
const char *spilled_on_stack(void *(*run)(void *), void *argument, const char *const *texts);

/* Checks that a copy of the first secret is seen. */
void a_block_with_a_secret_is_seen(void);

#endif
