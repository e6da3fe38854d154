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

/* Runs the function in a thread, and returns the stack of the thread for stack_has(), which is similar. Release it with
 * free_stack(). */
char *stack_of(void *(*run)(void *), void *argument);
bool stack_has(const char *stack, const void *secret, size_t len);
void free_stack(char *stack);

/* Runs the function in a thread. Returns the first of the texts that the stack of the thread has afterwards, at least
 * 16 bytes of it or all of a shorter text; NULL if none. NULL ends the list of texts. */
const char *spilled_on_stack(void *(*run)(void *), void *argument, const char *const *texts);

/* Checks that a copy of the first secret is seen. */
void a_block_with_a_secret_is_seen(void);

#endif
