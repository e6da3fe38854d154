/* slapd.h - a real OpenLDAP server for tests, in a folder of its own below /tmp, on loopback and a socket. */
#ifndef SKV_TEST_SLAPD_H
#define SKV_TEST_SLAPD_H

#include <stdbool.h>
#include <sys/types.h>

#define SLAPD_ADMIN "cn=admin,dc=simp"
#define SLAPD_PASSWORD "it is a secret"

typedef struct slapd {
    char folder[64]; /* of all its files */
    int port, tls_port;
    char ldap[64], ldaps[64], ldapi[192];            /* URIs */
    char password_file[96], wrong_password_file[96]; /* of SLAPD_ADMIN, with a newline */
    char cacert[96], other_cacert[96];               /* the CA, and another one */
    char cert[96], key[96], other_key[96];           /* the server's, for 127.0.0.1; and another key */
    pid_t pid;
} slapd;

/* The certificate that the server shows. The others are made beside it. */
typedef enum slapd_tls { SLAPD_NO_TLS, SLAPD_TLS, SLAPD_TLS_EXPIRED, SLAPD_TLS_EARLY, SLAPD_TLS_OTHER_HOST } slapd_tls;

/* Returns true if slapd is installed. */
bool slapd_is_installed(void);

/* Makes the folder and starts the server. `more`: further lines for the global section of slapd.conf. Returns false,
 * and prints the log, if it does not start. */
bool slapd_begin(slapd *s, slapd_tls tls, const char *more);

/* Does the same with further lines for the section of the database. */
bool slapd_begin_with(slapd *s, slapd_tls tls, const char *more, const char *database);

/* Start the stopped server with the same configuration and ports; stop it, orderly or not. */
bool slapd_start(slapd *s);
void slapd_stop(slapd *s);
void slapd_kill(slapd *s);

/* Freeze the server, with its sockets open, and thaw it. */
void slapd_freeze(const slapd *s);
void slapd_thaw(const slapd *s);

/* Stops the server, and removes the folder. */
void slapd_end(slapd *s);

/* Replaces the content of a file. */
bool slapd_write(const char *path, const char *content);

#endif
