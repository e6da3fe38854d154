/*
 * ldap/many.h - a batch of keys in the directory. Many requests are under way at once on one connection. They cover the
 * usual outcomes; every other record is left to the operation on one key, which handles all outcomes and words them.
 */
#ifndef SKV_LDAP_MANY_H
#define SKV_LDAP_MANY_H

#include "ldap/pipeline.h"
#include "ldap/put.h"
#include "store/batch.h"

/* A record of the batch, or another entry that has to be read or made for one. */
typedef struct skv_ldap_item {
    skv_record *record; /* NULL for another entry */
    char *dn;           /* owned */
    const char *name;   /* the path as the directory compares it: in lower case in the plain layout */
    skv_step step;
    bool begun;    /* a request for it was sent, or is about to be */
    bool tried;    /* it started again once */
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
    /* Sends the request of an item's step. Returns LDAP_SUCCESS with *id set, or libldap's error. */
    skv_ldap_code (*send)(skv_ldap_many *many, skv_ldap_item *item, int *id);
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

/* For send(): reads an item's entry at SKV_STEP_READ; at SKV_STEP_TWIN, whether the folder of its name exists. */
skv_ldap_code skv_ldap_many_read(skv_ldap_many *many, const skv_ldap_item *item, int wanted, int *id);

/* Returns true if the response says that the entry does not exist, while the base DN does. */
bool skv_ldap_many_is_absent(const skv_ldap_many *many, const skv_ldap_response *response);

#endif
