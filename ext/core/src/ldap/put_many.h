/* ldap/put_many.h - a batch of puts: its keys by name, and the folders that they are in. */
#ifndef SKV_LDAP_PUT_MANY_H
#define SKV_LDAP_PUT_MANY_H

#include "ldap/many.h"

/* The maximum number of items for each record: itself, its folder, and the folders above that. */
#define SKV_PUT_ITEMS_MAX 5

typedef enum skv_folder_state {
    SKV_FOLDER_UNKNOWN,
    SKV_FOLDER_EXISTS,
    SKV_FOLDER_MISSING,
    SKV_FOLDER_UNUSABLE /* its keys are put one by one, and their failures say why */
} skv_folder_state;

/* The folder that keys of the batch are in. */
typedef struct skv_put_folder {
    skv_folder_state state;
    int tries;
    const char *dn;  /* of a missing folder; an item's */
    int above_depth; /* of the deepest DN above it that exists, or is being added; 0: unknown */
    bool wanted;     /* keys wait for it */
    bool checked;    /* in the hex layout: the entry at that depth was read */
    bool sound;      /* and is a folder */
} skv_put_folder;

typedef struct skv_put_batch {
    skv_ldap_many many;
    skv_put_state *states; /* of the records */
    bool hex;              /* layout */
    skv_ldap_item **order; /* the items, sorted */
    char *names;
    skv_put_folder *folders;
    size_t folder_count;
    size_t own_count; /* the number of items for records and for the folders that they are in */
    bool contested;   /* another client adds entries where folders are being made */
} skv_put_batch;

/* ---- ldap/put_names.c */

/* Gives each item its name, as the directory compares it. Returns false when out of memory. */
bool skv_put_name_items(skv_put_batch *put);

/* Returns true if a directory may take a name in the path for another one, or ignores characters of it. */
bool skv_put_is_ambiguous_path(const skv_put_batch *put, const char *path);

/* Sorts the items by folder. */
void skv_put_sort_by_folder(skv_put_batch *put);

/* Returns true if both items are in one folder. */
bool skv_put_is_same_folder(const skv_ldap_item *a, const skv_ldap_item *b);

/* The length of the part of a name that is its folder's. */
size_t skv_put_folder_len(const char *name);

/* Leaves the items whose outcomes depend on each other to single puts, in the order of the batch: those of the same
 * name, and, where a key and a folder cannot share a name, a key and the keys below it. */
void skv_put_separate_related(skv_put_batch *put);

/* Leaves an item to a single put, unless it is decided. */
void skv_put_leave_to_single(skv_ldap_item *item);

/* ---- ldap/put_folders.c */

/* Assigns the items to folders, and adds an item for each folder that has to be read. Returns false when out of memory.
 */
bool skv_put_find_folders(skv_put_batch *put);

/* Notes that the folder of an item, `dn`, is missing, by a response whose matched DN tells how much exists. */
void skv_put_note_missing(skv_put_batch *put, const skv_ldap_item *item, const char *dn,
                          const skv_ldap_response *response);

/* skv_many_ops' waits, plan and settle. */
bool skv_put_must_wait(const skv_ldap_many *many, const skv_ldap_item *item);
bool skv_put_plan_folders(skv_ldap_many *many);
void skv_put_settle_folders(skv_ldap_many *many);

/* Takes the response of an item that is no record's. */
void skv_put_take_folder_response(skv_put_batch *put, skv_ldap_item *item, skv_ldap_response *response);

#endif
