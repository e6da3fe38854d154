/* What a watch knows of its folder, in the hex layout. A deletion comes as a DN only, which does not tell a folder from
 * a key. */
#include "changes.h"
#include "check.h"
#include "ldap/known.h"

#include <string.h>

#define FOLDER_DN "simpkvHexId=77,ou=globals,ou=x,ou=instances,ou=simpkv,o=puppet,dc=simp"
#define A_DN "simpkvHexId=61," FOLDER_DN
#define KEY_DN "simpkvHexId=6b," A_DN

static skv_ldap_store hex = {.layout = SKV_LAYOUT_HEX};
static const skv_key folder = {"globals/w", 9};
static skv_ldap_call call = {.store = &hex};
static skv_ldap_known known;

static skv_ldap_entry entry(const char *dn, bool is_key, bool is_folder)
{
    return (skv_ldap_entry){
        .dn = {strlen(dn), (char *)(uintptr_t)dn}, .is_key = is_key, .is_folder = is_folder, .has_class = true};
}

static void begin(void)
{
    known = (skv_ldap_known){0};
    call.reply = reply;
    skv_reply_reset(reply);
    seen[0] = '\0';
    CHECK(skv_ldap_known_begin(&known, &call, &folder, FOLDER_DN) == SKV_OK);
    CHECK(skv_ldap_known_settle(&known, SKV_KNOWN_NOTHING, NULL, "", reply) == SKV_OK);
}

static void change(skv_sync_change what, skv_ldap_entry of)
{
    skv_reply_reset(reply);
    CHECK(skv_ldap_known_change(&known, &call, &of, what, "") == SKV_OK);
    note_records();
}

/* The keys below the folder used to be no longer reported. */
static void a_late_deletion_of_a_folder_hides_none_of_its_keys(void)
{
    begin();
    change(SKV_SYNC_ADDED, entry(A_DN, false, true));
    change(SKV_SYNC_DELETED, entry(A_DN, false, false));
    change(SKV_SYNC_ADDED, entry(KEY_DN, true, false));
    CHECK_STR(seen, "fa/ pa/k ");
    CHECK(!known.is_behind);
    skv_ldap_known_free(&known);
}

/* The path of a deleted key used to stay until the next refresh. */
static void deleted_keys_take_no_memory(void)
{
    begin();
    change(SKV_SYNC_ADDED, entry(A_DN, false, true));
    change(SKV_SYNC_ADDED, entry(KEY_DN, true, false));
    change(SKV_SYNC_DELETED, entry(KEY_DN, false, false));
    CHECK_STR(seen, "fa/ pa/k da/k ");
    CHECK(json_object_size(known.versions) == 1 && json_object_size(known.below.paths) == 1);
    skv_ldap_known_free(&known);
}

int main(void)
{
    reply = skv_reply_new();
    a_late_deletion_of_a_folder_hides_none_of_its_keys();
    deleted_keys_take_no_memory();
    skv_reply_free(reply);
    return check_summary("ldap_known");
}
