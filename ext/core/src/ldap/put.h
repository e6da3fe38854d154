/*
 * ldap/put.h - the steps of a put. Single puts and batches take the same ones: a single put has one request in flight
 * (ldap/put.c), a batch those of many records (ldap/put_many.c).
 *
 *                                     stale
 *     +-----------------------------------+--------+-----------+
 *     v                                   |        |           |
 *   READ ---> there is no such key ---> ADD -------|-----------|-----> DONE
 *    ^ |                                           |           |        ^
 *    | +----> another document ---> REPLACE -------+---> CONFIRM -------+
 *    | |                                                (on 389-DS)     |
 *    | +----> unchanged; a folder; the condition does not hold ---------+
 *    v
 *   READ without the index, if that of 389-DS lacks the entry: a half-deleted one is removed
 */
#ifndef SKV_LDAP_PUT_H
#define SKV_LDAP_PUT_H

#include "ldap/version.h"

/* The next request of a put; of a get, which only reads; or of a batch for an entry beside its records. */
typedef enum skv_step {
    SKV_STEP_READ,    /* read the entry; of a put, through the index: ldap/confirm.h */
    SKV_STEP_TWIN,    /* in the plain layout: look for a folder of the key's name */
    SKV_STEP_MAKE,    /* add a folder */
    SKV_STEP_ADD,     /* add the key */
    SKV_STEP_REPLACE, /* replace its document */
    SKV_STEP_CONFIRM, /* read whether the server has kept the replacement: ldap/confirm.h */
    SKV_STEP_SINGLE,  /* the response is a failure: a batch leaves the record to the operation on one key */
    SKV_STEP_DONE,
} skv_step;

typedef struct skv_put_state {
    skv_step step;
    const skv_put_args *args; /* borrowed; its document is NULL for a folder, which is created */
    const char *dn;           /* borrowed */
    size_t swap_max;          /* the largest document that is compared without a condition of the caller's; 0: none */
    bool in_doubt;            /* for skv_ldap_put_one(): an earlier request may have written the key */
    bool was_in_doubt;        /* before the replacement that is being confirmed */
    bool is_unindexed;        /* the index lacks the entry: the next read is without it */
    bool make_all_folders;    /* the server does not say which folders exist */
    int hidden;               /* how many adds in a row found the entry, which reads do not see */
    int existing_depth;       /* of the deepest entry above a missing key that exists; 0: unknown */
    struct berval old;        /* owned: the document that the entry must have to be replaced; NULL for any */
    const char *version;      /* the version that it must have; "" for any */
    skv_ldap_versions versions;
} skv_put_state;

/* Starts at SKV_STEP_READ. skv_put_end() follows. */
void skv_put_begin(skv_put_state *put, const skv_put_args *args, const char *dn);
void skv_put_end(skv_put_state *put);

/* Returns true for a step whose request writes the key. */
static inline bool skv_put_is_write(skv_step step)
{
    return step == SKV_STEP_ADD || step == SKV_STEP_REPLACE;
}

/* Sends the request of the step READ, ADD, REPLACE or CONFIRM without waiting. Returns LDAP_SUCCESS with *id set, or
 * libldap's error. */
skv_ldap_code skv_put_send(skv_ldap_call *call, skv_put_state *put, int *id);

/*
 * Takes the response to the request of the step, and sets the next one: READ if another client has changed the entry
 * (the versions tell whether to pause); SINGLE if the response is a failure, which the caller reports; DONE with the
 * outcome in the reply. Sets call->in_doubt while an acknowledged replacement is not confirmed. May send requests and
 * wait for them, if no base DN was seen, if a document of more than 128 KiB is put, if another document has to be put
 * back (ldap/compare_and_swap.h), or to remove a half-deleted entry.
 */
void skv_put_take(skv_ldap_call *call, skv_put_state *put, skv_ldap_response *response);

/* Puts one key. `put` is new, or at any step of a batch: only its args and its doubts count. Returns false if the call
 * failed in a way in which all others would fail. */
bool skv_ldap_put_one(skv_store *store, const skv_key *key, skv_put_state *put, skv_deadline *deadline,
                      skv_reply *reply);

#endif
