/*
 * file/temp.h - the temporary file in which a key's next document is written.
 *
 * All writers of a key use the same name, so that a writer that was killed leaves at most one file, which the next
 * writer finds. Only the process that holds the lock on that file may rename or unlink it: a temporary file without a
 * lock belongs to a dead process. The lock also serialises the writers of a key that has no file yet.
 */
#ifndef SKV_FILE_TEMP_H
#define SKV_FILE_TEMP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SKV_TEMP_PREFIX ".skv~"
#define SKV_TEMP_NAME_SIZE (sizeof SKV_TEMP_PREFIX + 17)

typedef struct skv_temp {
    int folder;       /* borrowed */
    int fd;           /* owned; -1 for none */
    const char *busy; /* after EAGAIN: why another process's file cannot be removed */
    char name[SKV_TEMP_NAME_SIZE];
} skv_temp;

/* Returns true for the name of a temporary file or folder. */
bool skv_temp_is_name(const char *name);

/* Sets the temporary name under which the folder `base` is made. */
void skv_temp_name_folder(char name[SKV_TEMP_NAME_SIZE], const char *base);

/* Opens a temporary file of any process, to lock it. Returns a descriptor, or -1 with errno. */
int skv_temp_open(int folder, const char *name);

/* Returns a static string that says why a temporary file cannot be removed: its lock is taken (EWOULDBLOCK), or it
 * cannot be opened. */
const char *skv_temp_busy(int error_number);

/* Sets the name of the temporary file for the key `base` in the folder. */
void skv_temp_init(skv_temp *temp, int folder, const char *base);

/*
 * Makes the temporary file, empty, with that mode whatever the umask, and locks it. `held` is the key's own file,
 * locked by the caller, or -1. Returns 0, or -1 with errno: EAGAIN if another process uses the temporary file, ENOENT
 * if the folder was deleted: start again.
 */
int skv_temp_make(skv_temp *temp, int held, mode_t mode);

/* Unlinks the temporary file of a dead process, if there is one; `held` as above. Returns 1 if there was one, 0 if not,
 * or -1 with errno: EAGAIN if another process uses it. */
int skv_temp_sweep(skv_temp *temp, int held);

/* Writes the document, which the caller syncs. Returns 0, or -1 with errno. */
int skv_temp_write(const skv_temp *temp, const char *bytes, size_t len);

/* Unlinks the file if it still has the name, and closes it. */
void skv_temp_discard(skv_temp *temp);

/* Closes the file, which has become the key's. */
void skv_temp_close(skv_temp *temp);

#endif
