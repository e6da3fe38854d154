/* file_fixture.h - for the tests of the file store: a store on a folder of its own, and short words for what they say.
 */
#ifndef SKV_TEST_FILE_FIXTURE_H
#define SKV_TEST_FILE_FIXTURE_H

#include "calls.h"

#include <stdbool.h>
#include <sys/stat.h>

#define NOBODY 65534

/* A folder for all that a test makes, and the store's root in it. */
extern char scratch[];
extern char root[64];

/* Whether openat2() is forbidden, as on an older kernel. */
extern bool by_walking;

/* Runs the tests, each on an empty store, twice: with openat2() and without. Answers main's exit status. */
int run_file_tests(const char *name, void (*const *tests)(void), size_t count);

/* Opens another. */
skv_store *open_at(const char *path);

/* What is on the disk, named from the root on. */
const char *path(const char *name);
struct stat stat_of(const char *name);
bool is_there(const char *name);
int names_in(const char *folder);
void write_file(const char *name, const char *text);

/* The name of the temporary file for the key "k" in "globals". */
const char *temporary_name(void);

/* Runs as a user who is not root. */
void as_nobody(void (*run)(void));

/* Makes a system call fail from here on, in this process. */
bool forbid_call(unsigned number, unsigned error_number);

/* Runs in a child process, where a system call fails. Returns true if all checks held. */
bool in_child_without(long number, int error_number, void (*run)(void));

/* Locks a file, as another program would; the lock ends when the descriptor is closed. */
int lock_file(const char *name);

#endif
