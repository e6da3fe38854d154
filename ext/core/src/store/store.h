/* store/store.h - the interface of a store, and the functions that all stores share. The public calls (api.c, batch.c)
 * check arguments and dispatch. */
#ifndef SKV_STORE_STORE_H
#define SKV_STORE_STORE_H

#include "base/deadline.h"
#include "base/reply.h"
#include "simpkv_changes.h"
#include "json/tree.h"

/* A checked key or folder: no empty, "." or ".." segment, no NUL, within the limits of simpkv.h. */
typedef struct skv_key {
    const char *path; /* NUL-terminated, lives as long as the call */
    size_t len;
} skv_key;

/* The arguments of skv_put(), and of skv_delete(), borrowed. */
typedef struct skv_put_args {
    const char *document; /* NULL for skv_delete() */
    size_t document_len;
    int condition;
    const char *expect;
    size_t expect_len;
    bool in_doubt;       /* SKV_PUT_IN_DOUBT */
    bool non_unique;     /* SKV_PUT_NON_UNIQUE */
    bool keep_encrypted; /* SKV_PUT_KEEP_ENCRYPTED */
} skv_put_args;

/* Separates the flags from the condition. */
skv_put_args skv_put_args_of(const char *document, size_t document_len, int condition, const char *expect,
                             size_t expect_len);

/* The arguments of the functions of entries, borrowed. */
typedef struct skv_entry_args {
    const char *dn;      /* NUL-terminated, UTF-8 */
    const char *texts;   /* each followed by a NUL: attributes; attributes and values; changes. Or a password */
    size_t count;        /* of the texts; of the bytes of the password */
    const char *version; /* of the entry that is to be changed; "" for any */
    const char *filter;  /* of a list: NULL for the entries directly below the DN, else for all from it on that match */
} skv_entry_args;

/* The arguments of skv_list_open() or skv_tree_open(). */
typedef struct skv_list_args {
    skv_key folder;
    bool tree;       /* include the folders below it */
    bool names_only; /* SKV_TREE_NAMES */
} skv_list_args;

/* The arguments of skv_changes_open(). */
typedef struct skv_changes_args {
    skv_key folder;
    const char *since; /* NUL-terminated; NULL for now */
} skv_changes_args;

/* The kinds of the records of skv_changes_next(). */
#define SKV_CHANGE_PUT 'p'
#define SKV_CHANGE_DELETE 'd'
#define SKV_CHANGE_FOLDER 'f'
#define SKV_CHANGE_READY 'c'
#define SKV_CHANGE_PART 'i'
#define SKV_CHANGE_RESYNC 'r'
#define SKV_CHANGE_LOST 'l'
#define SKV_CHANGE_BACK 'b'

/* A page of a list ends at the first record that brings it to this size. */
#define SKV_PAGE_BYTES ((size_t)256 << 10)

typedef struct skv_batch skv_batch;

/* Each operation starts with an empty reply, and returns the status that it leaves there. All operations are
 * thread-safe. */
typedef struct skv_store_ops {
    void (*close)(skv_store *store);
    skv_status (*get)(skv_store *store, const skv_key *key, int flags, skv_deadline *deadline, skv_reply *reply);
    skv_status (*exists)(skv_store *store, const skv_key *key, skv_deadline *deadline, skv_reply *reply);
    /* Puts the facts of skv_stat() into an object, and sets the reply's number to the SKV_KIND_*. */
    skv_status (*stat)(skv_store *store, const skv_key *key, json_t **facts, skv_deadline *deadline, skv_reply *reply);
    skv_status (*put)(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                      skv_reply *reply);
    /* Decide each record of a batch, or stop it: batch.h. NULL for a store that works on one record after the other. */
    void (*put_many)(skv_store *store, skv_batch *batch);
    void (*get_many)(skv_store *store, skv_batch *batch);
    skv_status (*del)(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                      skv_reply *reply);
    skv_status (*create_folder)(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply);
    skv_status (*delete_folder)(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply);
    skv_status (*deletetree)(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply);
    skv_list *(*list_open)(skv_store *store, const skv_list_args *args, skv_deadline *deadline, skv_reply *reply);
    skv_status (*list_next)(skv_list *list, skv_deadline *deadline, skv_reply *reply);
    void (*list_close)(skv_list *list);
    skv_changes *(*changes_open)(skv_store *store, const skv_changes_args *args, skv_deadline *deadline,
                                 skv_reply *reply);
    skv_status (*changes_next)(skv_changes *changes, skv_deadline *deadline, skv_reply *reply);
    void (*changes_close)(skv_changes *changes);
    /* NULL, all of them, for a store without entries. */
    skv_status (*entry_read)(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
    skv_status (*entry_add)(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
    skv_status (*entry_modify)(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
    skv_status (*entry_delete)(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
    skv_status (*entry_list)(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
    skv_status (*entry_set_password)(skv_store *store, const skv_entry_args *args, skv_deadline *deadline,
                                     skv_reply *reply);
    skv_status (*entry_check_password)(skv_store *store, const skv_entry_args *args, skv_deadline *deadline,
                                       skv_reply *reply);
} skv_store_ops;

/* The first member of every implementation's store, list and changes. */
struct skv_store {
    const skv_store_ops *ops;
};

struct skv_list {
    skv_store *store; /* borrowed */
};

struct skv_changes {
    skv_store *store; /* borrowed */
};

/* Returns true for a document with the bytes that the condition SKV_PUT_EXPECT wants. */
bool skv_is_expected(const skv_put_args *args, const char *document, size_t len);

/* Returns true if SKV_PUT_KEEP_ENCRYPTED forbids to replace the stored document. A damaged one counts as encrypted. */
bool skv_is_kept_encrypted(const skv_put_args *args, const char *stored, size_t len);

/* Why the put is refused then. */
#define SKV_KEPT_ENCRYPTED "it is encrypted: set 'encryption_keys' of the backend"

/* Check the arguments of a put and of a delete. Return SKV_OK, or the reply's failure. */
skv_status skv_check_put(const skv_key *key, const skv_put_args *args, skv_reply *reply);
skv_status skv_check_delete(const skv_key *key, const skv_put_args *args, skv_reply *reply);

/* Returns true for "globals" and "environments", the two folders that every store has. */
bool skv_key_is_root(const skv_key *key);

/* Fails for these two and for the root of the store: no key can have their names. Returns SKV_OK for other keys. */
skv_status skv_refuse_structure(const skv_key *key, skv_reply *reply);

/* Appends a record to a page of a list or of changes, which is the reply's data, and counts it. */
void skv_list_add(skv_reply *reply, char kind, const char *name, size_t name_len, const char *body, size_t body_len);

#endif
