/* Writes to a server with assertions, as an identity that may not read or compare versions, or in a database without
 * versions or assertions. */
#include "batches.h"
#include "check.h"
#include "directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Grants the user rights on one attribute. */
#define ACCESS(attribute, rights)                                                                                      \
    "access to dn.subtree=\"" DIRECTORY_BASE_DN "\" attrs=" attribute " by dn.exact=\"" DIRECTORY_USER_DN "\" " rights \
    " by * none\n"

static void a_batch_replaces(const char *expect)
{
    char key[64];

    batch_clear();
    for (int i = 0; i < 8; i++) {
        snprintf(key, sizeof key, "globals/versions/b%d", i);
        put(key, D1);
        batch_add_expecting(key, D2, expect);
    }
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 8);
}

/* All writes to a database without assertions used to fail with 12. */
static void every_write_succeeds(void)
{
    put_gives("globals/versions/k", D1, 1);
    put_gives("globals/versions/k", D2, 1);
    get_gives("globals/versions/k", D2);
    a_batch_replaces(NULL);
    CHECK(del("globals/versions/k") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(del("globals/versions/k") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(deletetree("globals/versions") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(kind("globals/versions") == SKV_KIND_NONE);
}

/* A put used to fail because "others keep changing it" if the user may read a version but not compare it. */
static void every_conditional_write_succeeds(void)
{
    every_write_succeeds();
    put("globals/versions/c", D1);
    CHECK(put_if("globals/versions/c", D2, SKV_PUT_EXPECT, D1) == SKV_OK);
    CHECK(put_if("globals/versions/c", D2, SKV_PUT_EXPECT, D1) == SKV_CONFLICT);
    get_gives("globals/versions/c", D2);
    del_if_gives("globals/versions/c", D1, 0);
    del_if_gives("globals/versions/c", D2, 1);
    a_batch_replaces(D1);
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_CONFLICT, 0) == 8);
}

static void without_versions(const char *database)
{
    run_ldap_tests(DIRECTORY_PLAIN, database, false, (const char *[]){"id=plain", NULL},
                   every_conditional_write_succeeds);
    run_ldap_tests(DIRECTORY_HEX, database, false, (const char *[]){"id=hex", "layout=hex", NULL},
                   every_conditional_write_succeeds);
}

/* Without assertions and pre-reads, nothing may be deleted that this client has not seen. */
static void without_controls(void)
{
    every_write_succeeds();
    put("globals/versions/d", D1);
    CHECK(del_if("globals/versions/d", D1) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "Critical extension is unavailable");
    del_if_gives("globals/versions/d", D2, 0);
    get_gives("globals/versions/d", D1);
}

/* The keys are in a database of another type, below the usual one. */
static void without_assertions(void)
{
    char folder[] = "/tmp/simpkv-ldif-XXXXXX", lines[1024], command[64];

    if (!CHECK(mkdtemp(folder)))
        return;
    snprintf(lines, sizeof lines,
             "%s\ndatabase ldif\nsuffix \"%s\"\nrootdn %s\ndirectory %s\naccess to * by dn.exact=\"%s\" write\n",
             DIRECTORY_PLAIN, DIRECTORY_BASE_DN, SLAPD_ADMIN, folder, DIRECTORY_USER_DN);
    run_ldap_tests(lines, "", false, (const char *[]){"id=plain", NULL}, without_controls);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
}

int main(void)
{
    reply = skv_reply_new();
    without_versions(ACCESS("entryCSN", "none"));
    without_versions(ACCESS("entryCSN", "=r"));
    without_versions("lastmod off\n");
    without_assertions();
    batch_clear();
    skv_reply_free(reply);
    return check_summary("ldap_versions");
}
