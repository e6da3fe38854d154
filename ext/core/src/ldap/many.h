/*
 * ldap/many.h - a batch of keys in the directory. Many requests are under way at once on one connection. They cover the
 * usual outcomes; every other record is left to the operation on one key, which handles all outcomes and words them.
 */
#ifndef SKV_LDAP_MANY_H
#define SKV_LDAP_MANY_H

#include "ldap/pipeline.h"
#include "ldap/version.h"
#include "store/batch.h"

/* The next step of an item. */
typedef enum skv_step {
    SKV_STEP_READ,    /* read the entry */
    SKV_STEP_TWIN,    /* in the plain layout: look for a folder of the key's name */
    SKV_STEP_MAKE,    /* add a folder */
    SKV_STEP_ADD,     /* add the key */
    SKV_STEP_REPLACE, /* replace its document */
    SKV_STEP_CONFIRM, /* read whether the server has kept the replacement: ldap/confirm.h */
    SKV_STEP_SINGLE,  /* leave it to the operation on one key */
    SKV_STEP_DONE,
} skv_step;

/* A record of the batch, or another entry that has to be read or made for one. */
typedef struct skv_ldap_item {
    skv_record *record; /* NULL for another entry */
    char *dn;           /* owned */
    const char *name;   /* the path as the directory compares it: in lower case in the plain layout */
    skv_step step;
    char *version; /* owned: of the entry that is to be replaced; NULL for one that is to be added */
    bool begun;    /* a request for it was sent, or is about to be */
    bool tried;    /* it failed once */
    bool in_doubt; /* it may have been written */
    size_t group;  /* its folder, for ldap/put_folders.c */
} skv_ldap_item;

typedef struct skv_ldap_many skv_ldap_many;

/* The operation: get or put. */
typedef struct skv_many_ops {
    skv_op op;
    /* The maximum number of items for each record; 0 stands for 1. */
    size_t items_max;
    /* Adds items beside those of the records, which are at SKV_STEP_READ or beyond. Returns false when out of memory.
     * May be NULL. */
    bool (*prepare)(skv_ldap_many *many);
    /* Returns true if an item has to wait for another one. May be NULL. */
    bool (*waits)(const skv_ldap_many *many, const skv_ldap_item *item);
    /* Adds items that others wait for. Returns false when there are none. May be NULL. */
    bool (*plan)(skv_ldap_many *many);
    /* Takes an item's response, and sets its next step. */
    void (*take)(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_response *response);
    /* Runs the operation on one key. Returns false if it would fail for all others as well. */
    bool (*single)(skv_ldap_many *many, skv_ldap_item *item, skv_deadline *deadline);
    /* Called before the single operations. May be NULL. */
    void (*settle)(skv_ldap_many *many);
} skv_many_ops;

struct skv_ldap_many {
    skv_ldap_call call; /* its reply is the batch's `each` */
    skv_deadline deadline;
    skv_batch *batch;
    const skv_many_ops *ops;
    skv_ldap_item *items; /* one for each record, in their order, then the others */
    size_t count;
    skv_ldap_pipeline pipeline;
    bool interrupted; /* the cancel handle has fired: no other record begins */
    bool stopped;     /* the grace period of the interrupt is over: nothing more is sent */
    int failures;     /* the number of lost connections */
};

/* Runs the batch: decides each record, or stops the batch. */
void skv_ldap_many_run(skv_ldap_many *many, skv_store *store, skv_batch *batch, const skv_many_ops *ops);

/* For take(): takes the outcome of a record from the reply. */
void skv_ldap_many_decide(skv_ldap_many *many, skv_ldap_item *item);

/* For take(): empties the reply, and names the item's key in its messages. */
skv_ldap_call *skv_ldap_many_word(skv_ldap_many *many, const skv_ldap_item *item);

/* Return the document of an item's record, and the expected one, whose bytes are NULL without SKV_PUT_EXPECT. */
struct berval skv_ldap_many_document(const skv_ldap_item *item);
struct berval skv_ldap_many_expected(const skv_ldap_item *item);

/* Reads the entry of a response. Returns false if it shows none. */
bool skv_ldap_many_entry(skv_ldap_many *many, skv_ldap_response *response, skv_ldap_entry *entry);

/* Returns true if the response says that the entry does not exist, while the base DN does. */
bool skv_ldap_many_is_absent(const skv_ldap_many *many, const skv_ldap_response *response);

#endif
