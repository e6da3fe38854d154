/* directory.h - a directory for the tests of the store: a slapd with simpkv's schema, the base tree, and a user. */
#ifndef SKV_TEST_DIRECTORY_H
#define SKV_TEST_DIRECTORY_H

#include "calls.h"
#include "proxy.h"
#include "slapd.h"

#define DIRECTORY_BASE_DN "ou=simpkv,o=puppet,dc=simp"
/* A user with rights below the base DN. Its password is SLAPD_PASSWORD. */
#define DIRECTORY_USER_DN "cn=simpkv,dc=simp"

#define DIRECTORY_PLAIN TEST_SCHEMA "/openldap/simpkv.schema"
#define DIRECTORY_HEX TEST_SCHEMA "/openldap/simpkv-hex.schema"

/* Two documents. */
#define D1 "{\"value\":1,\"metadata\":{}}"
#define D2 "{\"value\":2,\"metadata\":{}}"

/* The server of the tests. */
extern slapd server;

/* Runs the tests on a new server, with `store` opened as the root DN or as the ordinary user. */
void run_ldap_tests(const char *schema, const char *database, bool root, const char *const *options,
                    void (*tests)(void));

/* Open a store on the socket, or at another URI. `more` has further options as "name=value" texts, the last one NULL.
 */
skv_store *open_with(bool root, const char *const *more);
skv_store *open_at_uri(const char *uri, bool root, const char *const *more);

/* Opens a store that reaches the server through the proxy only, and makes a connection. */
skv_store *open_through(const proxy *p, const char *retries);

/* Runs tests with `store` opened through a proxy, which may hide the assertion control, and `other_client` opened with
 * the same options without it. */
void run_through(proxy *between, bool hide_assertion, const char *const *options, void (*tests)(void));

extern skv_store *other_client;
void other_puts(const char *key, const char *document);

/* The same for a proxy that hides the assertion control, which 389-DS lacks. */
void run_without_assertions(void (*test)(void));

/* Starts a slapd with a schema (the path of a file, further lines may follow it; NULL for none) and `database`, further
 * lines for the database's section. Adds the base tree. The user who runs the test is the root DN by SASL EXTERNAL. */
bool directory_begin(slapd *s, const char *schema, const char *database);

/* Adds or changes entries as the root DN: ldapmodify -a. */
bool directory_modify(slapd *s, const char *ldif);

#endif
