/* directory.h - a directory for the tests of the store: a slapd with simpkv's schema, the base tree, and a user. */
#ifndef SKV_TEST_DIRECTORY_H
#define SKV_TEST_DIRECTORY_H

#include "calls.h"
#include "proxy.h"
#include "slapd.h"

#define DIRECTORY_BASE_DN "ou=simpkv,o=puppet,dc=simp"
/* Has rights on what is below the base DN; SLAPD_PASSWORD is its password too. */
#define DIRECTORY_USER_DN "cn=simpkv,dc=simp"

#define DIRECTORY_PLAIN TEST_SCHEMA "/openldap/simpkv.schema"
#define DIRECTORY_HEX TEST_SCHEMA "/openldap/simpkv-hex.schema"

/* Two documents. */
#define D1 "{\"value\":1,\"metadata\":{}}"
#define D2 "{\"value\":2,\"metadata\":{}}"

/* The server that the tests run on. */
extern slapd server;

/* Runs the tests with `store` opened there: as the root DN, or as the ordinary user. */
void run_ldap_tests(const char *schema, const char *database, bool root, const char *const *options,
                    void (*tests)(void));

/* Opens a store there: on the socket, or at another URI. Options are given as "name=value" texts, the last one NULL,
 * beside those that say where the server is and who asks. */
skv_store *open_with(bool root, const char *const *more);
skv_store *open_at_uri(const char *uri, bool root, const char *const *more);

/* A store whose only way to the server is the proxy. It has a connection already. */
skv_store *open_through(const proxy *p, const char *retries);

/* Starts a slapd with the schema (a file's path, NULL for none of simpkv's; further lines may follow it) and `database`
 * lines in its database's section, and adds the base tree. Whoever runs the test is root DN by SASL EXTERNAL. */
bool directory_begin(slapd *s, const char *schema, const char *database);

/* Adds or changes entries as the root DN: ldapmodify -a. */
bool directory_modify(slapd *s, const char *ldif);

#endif
