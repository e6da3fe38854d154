/* ldap/call.h - one operation of the LDAP store: on which connection it runs, how it is tried again, and how it fails.
 */
#ifndef SKV_LDAP_CALL_H
#define SKV_LDAP_CALL_H

#include "name/dn.h"
#include "net/pool.h"
#include "store/store.h"

#include <stdatomic.h>

/* What the operations of the LDAP store answer among themselves, beside statuses: something changed underneath, look
 * again. Never leaves the store. */
#define SKV_LDAP_AGAIN (-1)

/* libldap takes texts without const, and does not change them. */
#define SKV_LDAP_TEXT(text) ((char *)(uintptr_t)(text))

typedef struct skv_ldap_store {
    skv_store store;
    skv_pool *reads, *writes; /* one and the same unless write_uri says otherwise */
    atomic_bool wrote;        /* reads follow the writes */
    skv_pool_limits limits;
    int layout, retries, page_size;
    bool strict_paths, fold_case;
    int base_depth;    /* RDNs of base_dn */
    char *base_dn;     /* owned, as those below */
    char *instance_dn; /* the entry above "globals" and "environments" */
    size_t instance_dn_len;
    char *identity; /* for messages: a bind DN, or what stands for one */
} skv_ldap_store;

/* Lives on the stack of an operation, as the first member of what else that needs. */
typedef struct skv_ldap_call {
    skv_ldap_store *store;
    const skv_key *key;        /* NULL for an entry that is none's */
    const char *name;          /* the key in messages, or the entry */
    const char *what, *failed; /* how messages start and end around the key: "Delete of", " failed" */
    skv_op op;
    bool writes;
    char *dn; /* owned: of the entry that the key, or folder, is */
    skv_deadline *deadline;
    int64_t round_trip_ns;   /* how long each round trip may take; 0: `deadline` is for the whole */
    skv_deadline round_trip; /* its own limits, then */
    skv_reply *reply;
    skv_pool *pool;
    skv_conn *conn; /* borrowed while an attempt runs */
    int retries;    /* left */
    bool again;     /* the attempt failed by what another may mend, for this reason: */
    skv_retry reason;
    bool unsent;        /* and the server has not got any of it */
    bool in_doubt;      /* the answer to a change was lost: it may have been made */
    bool server_failed; /* when it has failed: so would others, for the server cannot be asked, or is busy for long */
} skv_ldap_call;

/* Prepares a call on a key or a folder (SKV_KIND_*), and refuses names that the store does not take. Always followed by
 * skv_ldap_end(). */
int skv_ldap_begin(skv_ldap_call *call, skv_store *store, skv_op op, const skv_key *key, int kind,
                   skv_deadline *deadline, skv_reply *reply);

/* The same on any entry: there is no key, then. */
int skv_ldap_begin_entry(skv_ldap_call *call, skv_store *store, skv_op op, const char *dn, skv_deadline *deadline,
                         skv_reply *reply);

void skv_ldap_end(skv_ldap_call *call);

/* Runs attempts, each with a borrowed connection and an empty reply, until one succeeds or fails for good. Answers the
 * status. An attempt that keeps the connection (call->conn is NULL then) counts the operation and returns it, later. */
int skv_ldap_run(skv_ldap_call *call, int (*attempt)(skv_ldap_call *));

/* Why a directory takes other names for this one, of an environment or an instance; NULL if it takes none: the matching
 * of names ignores case, maps what Unicode calls compatible, and drops what cannot be seen. */
const char *skv_ldap_shared(const char *name, size_t len);

/* Whether the path is a folder of the structure, at which no key can be: "", "globals", "environments", or an
 * environment's. */
bool skv_ldap_is_structure(const skv_key *key);

/* ---- Requests. Each fills an answer, which the caller frees, whatever comes of it, and answers its code. */

typedef struct skv_ldap_answer {
    int code; /* an LDAP result, or libldap's own, which are negative */
    LDAPMessage *message;
    char *matched, *text;
    char **referrals;
    LDAPControl **controls;
} skv_ldap_answer;

void skv_ldap_answer_free(skv_ldap_answer *answer);

/* Whether there is something to read in a control: liblber follows NULL in one that is empty. */
bool skv_ldap_has_value(const LDAPControl *control);

/* Attributes to ask for: none. */
extern const char *const skv_ldap_no_attributes[];

/* What each request starts with: its limits. LDAP_SUCCESS, or LDAP_USER_CANCELLED if the call has been interrupted by
 * then, and has gone on for long enough. */
int skv_ldap_start(skv_ldap_call *call);

/* Reads one entry. An entry that is there but may not be seen is LDAP_INSUFFICIENT_ACCESS. */
int skv_ldap_read(skv_ldap_call *call, const char *dn, const char *const *attributes, skv_ldap_answer *answer);

/* Starts a search for no more than `limit` entries (LDAP_NO_LIMIT), without waiting: LDAP_SUCCESS with *id set, or why
 * not. */
int skv_ldap_search(skv_ldap_call *call, const char *dn, int scope, const char *const *attributes, LDAPControl *control,
                    int limit, int *id);

int skv_ldap_add(skv_ldap_call *call, const char *dn, LDAPMod **mods, skv_ldap_answer *answer);
int skv_ldap_modify(skv_ldap_call *call, const char *dn, LDAPMod **mods, LDAPControl *control, skv_ldap_answer *answer);
int skv_ldap_delete(skv_ldap_call *call, const char *dn, LDAPControl *control, skv_ldap_answer *answer);

/* Takes the result out of answer->message. */
int skv_ldap_parse(skv_ldap_call *call, skv_ldap_answer *answer);

/* Before a call reads again because another client has changed the entry: pauses, longer from round to round, the first
 * of which is 1. SKV_OK, or the reply's failure: SKV_TIMEOUT, SKV_INTERRUPTED. */
int skv_ldap_pause(skv_ldap_call *call, int round);

/* Sets the limits of the next round trip. */
skv_deadline *skv_ldap_round_trip(skv_ldap_call *call);

/* ---- Failures */

/* ldap/fail.c. Fails the reply for what the server, or libldap, answered, and notes whether to try again. */
int skv_ldap_fail(skv_ldap_call *call, const skv_ldap_answer *answer);

/* Fails the reply with "<what> '<key>'<failed>: <why>", and the server, if there is one
 * yet. */
int skv_ldap_refuse(skv_ldap_call *call, int status, const char *why);

/* For LDAP_NO_SUCH_OBJECT. Returns the number of RDNs of the matched DN, 0 if the server does not say; true if the base
 * DN exists, or the server does not say; SKV_OK, or the reply's failure if the base DN does not exist. */
int skv_ldap_matched_depth(const skv_ldap_answer *answer);
bool skv_ldap_has_base(const skv_ldap_call *call, const skv_ldap_answer *answer);
int skv_ldap_check_base(skv_ldap_call *call, const skv_ldap_answer *answer);

/* Where the call's connection goes. */
const char *skv_ldap_server(const skv_ldap_call *call);

/* The DN of a path as a kind; of "", which is no kind's, that of the base. The caller frees it; NULL with the reply
 * filled on failure. */
char *skv_ldap_dn(const skv_ldap_store *store, int kind, const char *path, size_t len, skv_reply *reply);

#endif
