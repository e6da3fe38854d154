/* directory.h - a directory for the tests of the store: a slapd with simpkv's schema, the base tree, and a user. */
#ifndef SKV_TEST_DIRECTORY_H
#define SKV_TEST_DIRECTORY_H

#include "slapd.h"

#define DIRECTORY_BASE_DN "ou=simpkv,o=puppet,dc=simp"
/* Has rights on what is below the base DN; SLAPD_PASSWORD is its password too. */
#define DIRECTORY_USER_DN "cn=simpkv,dc=simp"

/* Starts a slapd with the schema (a file's path, NULL for none of simpkv's) and `database` lines in its database's
 * section, and adds the base tree. Whoever runs the test is root DN by SASL EXTERNAL. */
bool directory_begin(slapd *s, const char *schema, const char *database);

/* Adds or changes entries as the root DN: ldapmodify -a. */
bool directory_modify(slapd *s, const char *ldif);

#endif
