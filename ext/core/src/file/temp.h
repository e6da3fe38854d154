/*
 * file/temp.h - the temporary file in which a key's next document is written.
 *
 * Its name is the same for all writers of a key, so that a writer that was killed leaves at most one, which the next
 * one finds. Whose lock is on the file that has the name may rename or unlink it, nobody else: a temporary file whose
 * lock can be had belongs to a dead process. One more lock follows from that: writers of a key come one after another
 * even while there is no key file to lock.
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
    const char *busy; /* after EAGAIN: why the file of another one is in the way */
    char name[SKV_TEMP_NAME_SIZE];
} skv_temp;

/* Whether a name is a temporary file's or folder's. */
bool skv_temp_is_name(const char *name);

/* The name under which the folder `base` is made. */
void skv_temp_name_folder(char name[SKV_TEMP_NAME_SIZE], const char *base);

/* Opens a temporary file, whosever, such that it can be locked. A descriptor, or -1 with errno. */
int skv_temp_open(int folder, const char *name);

/* Why a temporary file is in the way whose lock could not be had (EWOULDBLOCK), or that could not be opened. A static
 * string. */
const char *skv_temp_busy(int error_number);

/* Names the temporary file of the key `base` in the folder. */
void skv_temp_init(skv_temp *temp, int folder, const char *base);

/*
 * Makes the temporary file, empty, with that mode whatever the umask, and locks it. `held` is the key's own file,
 * locked by the caller, or -1. Returns 0, or -1 with errno: EAGAIN if another process has the temporary file, or ENOENT
 * if the folder is gone: start again.
 */
int skv_temp_make(skv_temp *temp, int held, mode_t mode);

/* Unlinks a temporary file that is nobody's any more, if there is one; `held` as above. 0, or -1 with errno: EAGAIN
 * when it is somebody's. */
int skv_temp_sweep(skv_temp *temp, int held);

/* Writes the document and makes it durable. 0, or -1 with errno. */
int skv_temp_write(const skv_temp *temp, const char *bytes, size_t len);

/* Unlinks the name, which is still there, and closes the file. */
void skv_temp_discard(skv_temp *temp);

/* Closes the file, whose name has become the key's. */
void skv_temp_close(skv_temp *temp);

#endif
