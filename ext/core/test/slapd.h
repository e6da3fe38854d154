/* slapd.h - a real OpenLDAP server for tests, in a folder of its own below /tmp, on loopback and a socket. */
#ifndef SKV_TEST_SLAPD_H
#define SKV_TEST_SLAPD_H

#include <stdbool.h>
#include <sys/types.h>

#define SLAPD_ADMIN "cn=admin,dc=simp"
#define SLAPD_PASSWORD "it is a secret"

typedef struct slapd {
    char folder[64]; /* everything is in it */
    int port, tls_port;
    char ldap[64], ldaps[64], ldapi[192];            /* URIs */
    char password_file[96], wrong_password_file[96]; /* of SLAPD_ADMIN, with a newline */
    char cacert[96], other_cacert[96];               /* the CA, and one that has signed nothing of the server's */
    char cert[96], key[96], other_key[96];           /* the server's, for 127.0.0.1; and a key of something else */
    pid_t pid;
} slapd;

/* Which certificate it shows; the others are made beside it. */
typedef enum slapd_tls { SLAPD_NO_TLS, SLAPD_TLS, SLAPD_TLS_EXPIRED, SLAPD_TLS_OTHER_HOST } slapd_tls;

/* Whether there is a slapd on this machine. */
bool slapd_is_installed(void);

/* Makes the folder and starts. `more`: further lines for slapd.conf's global section. False, with its log printed, when
 * it does not come up. */
bool slapd_begin(slapd *s, slapd_tls tls, const char *more);

/* The same with further lines for the database's section. */
bool slapd_begin_with(slapd *s, slapd_tls tls, const char *more, const char *database);

/* Starts again what was stopped, with the same configuration and ports; stops it, orderly or not. */
bool slapd_start(slapd *s);
void slapd_stop(slapd *s);
void slapd_kill(slapd *s);

/* Keeps it silent, with its sockets open, from the moment that this returns on. */
void slapd_freeze(const slapd *s);
void slapd_thaw(const slapd *s);

/* Stops, and removes the folder. */
void slapd_end(slapd *s);

/* Replaces the file's content. */
bool slapd_write(const char *path, const char *content);

#endif
