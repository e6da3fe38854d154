/* net/password.h - the password of binds, in a file and in memory. */
#ifndef SKV_NET_PASSWORD_H
#define SKV_NET_PASSWORD_H

#include "base/reply.h"

/* A larger file is refused as a password file. */
#define SKV_PASSWORD_MAX 4096

/* The owner wipes it with explicit_bzero(). */
typedef struct skv_password {
    size_t len;
    char bytes[SKV_PASSWORD_MAX + 3]; /* with its newline, and one more to recognise a larger file */
} skv_password;

/*
 * The passwords of one attempt to bind. While an administrator replaces the password, the file may have the new one
 * before the directory has it: the pool keeps the last password that a server accepted.
 */
typedef struct skv_rotation {
    skv_password last;     /* empty: none. After a bind with the file's password: that one */
    bool begins_with_last; /* the bind needs the file only if the server refuses `last` */
    bool is_file_refused;  /* a server refused the file's password, and accepted `last` */
    bool is_last_refused;  /* this server refused `last`: the bind does not use it */
    unsigned version;      /* the pool's: counts the changes */
} skv_rotation;

/* Reads the password, without the newline at the end of the file. Refuses an empty one: servers take it for an
 * anonymous bind, and accept it. Returns the reply's status; its message names `server`. */
skv_status skv_password_read(const char *path, const char *server, skv_password *p, skv_reply *reply);

bool skv_password_equals(const skv_password *a, const skv_password *b);

#endif
