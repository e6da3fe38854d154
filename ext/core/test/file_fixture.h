/* file_fixture.h - for the tests of the file store: a store in a folder of its own. */
#ifndef SKV_TEST_FILE_FIXTURE_H
#define SKV_TEST_FILE_FIXTURE_H

#include "calls.h"

#include <stdbool.h>
#include <sys/stat.h>

#define NOBODY 65534

/* A folder for all files of a test, and the store's root in it. */
extern char scratch[];
extern char root[64];

/* True while openat2() is forbidden, as on an older kernel. */
extern bool by_walking;

/* Runs each test on an empty store, with openat2() and without. Returns the exit status of main(). */
int run_file_tests(const char *name, void (*const *tests)(void), size_t count);

/* Opens another store. */
skv_store *open_at(const char *path);

/* Opens the store of the test with an option. */
skv_store *open_files_with(const char *option, const char *value);

/* Files, named from the root on. */
const char *path(const char *name);
struct stat stat_of(const char *name);
bool is_there(const char *name);
int names_in(const char *folder);
void write_file(const char *name, const char *text);

/* Returns the name of the temporary file of the key "k" in "globals". */
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
