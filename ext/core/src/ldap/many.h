/*
 * ldap/many.h - a batch of keys in the directory. What usually comes of them is asked for and answered many at a time,
 * on one connection. Whatever else comes of a key is left to the operation on that key alone, which knows all of it,
 * and words it.
 */
#ifndef SKV_LDAP_MANY_H
#define SKV_LDAP_MANY_H

#include "ldap/pipeline.h"
#include "ldap/version.h"
#include "store/batch.h"

/* What is to be done about a key next. */
typedef enum skv_step {
    SKV_STEP_READ,    /* its entry */
    SKV_STEP_TWIN,    /* in the plain layout: look for a folder beside it */
    SKV_STEP_MAKE,    /* a folder */
    SKV_STEP_ADD,     /* the entry */
    SKV_STEP_REPLACE, /* its document */
    SKV_STEP_SINGLE,  /* leave it to the operation on one key */
    SKV_STEP_DONE,
} skv_step;

/* A key of the batch, or what else is looked at for its sake. */
typedef struct skv_ldap_item {
    skv_record *record; /* NULL for what is none */
    char *dn;           /* owned */
    const char *name;   /* the path, as far as names differ: in small letters in the plain layout */
    skv_step step;
    char *version; /* owned: of the entry that is to be replaced; NULL for one that is to be added */
    bool tried;    /* it went wrong once */
    bool in_doubt; /* it may have been written */
    size_t group;  /* ldap/put_many.c's */
} skv_ldap_item;

typedef struct skv_ldap_many skv_ldap_many;

typedef struct skv_many_ops {
    skv_op op;
    /* Whether an item whose step it is has to wait for others. May be NULL. */
    bool (*waits)(const skv_ldap_many *many, const skv_ldap_item *item);
    /* Adds items that others wait for, to be sent at once. False when there are none. May be NULL. */
    bool (*plan)(skv_ldap_many *many);
    /* What an answer makes of an item's step. */
    void (*take)(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_answer *answer);
    /* The operation on one key. False when there is no use in going on. */
    bool (*single)(skv_ldap_many *many, skv_ldap_item *item, skv_deadline *deadline);
    /* Between what is done together and what is done alone. May be NULL. */
    void (*settle)(skv_ldap_many *many);
} skv_many_ops;

struct skv_ldap_many {
    skv_ldap_call call; /* its reply is the batch's `each` */
    skv_deadline deadline;
    skv_batch *batch;
    const skv_many_ops *ops;
    skv_ldap_item *items; /* one for each record, in their order, and then what else there is */
    size_t count;
    skv_ldap_pipeline pipeline;
    bool stopped;  /* the handle has fired: nothing more is sent */
    int failures;  /* of connections */
    void *context; /* the ops' */
};

/* Runs the batch. `prepare` is called when the items of the records are there, at SKV_STEP_READ or beyond, and adds
 * others, `more` at the most; false when out of memory. */
void skv_ldap_many_run(skv_ldap_many *many, skv_store *store, skv_batch *batch, const skv_many_ops *ops, size_t more,
                       bool (*prepare)(skv_ldap_many *many));

/* For take(): the reply is what came of the item, which has an answer to it, and counts as an operation. */
void skv_ldap_many_decide(skv_ldap_many *many, skv_ldap_item *item);

/* For take(): has the reply speak of the item, and empties it. */
skv_ldap_call *skv_ldap_many_word(skv_ldap_many *many, const skv_ldap_item *item);

/* Reads the entry that was answered; false if there is none to be seen. */
bool skv_ldap_many_entry(skv_ldap_many *many, skv_ldap_answer *answer, skv_ldap_entry *entry);

/* Whether that is the answer that there is no such entry, below a base DN that is there. */
bool skv_ldap_many_is_absent(const skv_ldap_many *many, const skv_ldap_answer *answer);

#endif
