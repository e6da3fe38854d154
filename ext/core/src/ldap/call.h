/* ldap/call.h - one operation of the LDAP store: its connection, its retries, and its failures. */
#ifndef SKV_LDAP_CALL_H
#define SKV_LDAP_CALL_H

#include "name/dn.h"
#include "name/key.h"
#include "net/pool.h"
#include "store/store.h"

#include <stdatomic.h>

/* libldap takes texts without const, and does not change them. */
#define SKV_LDAP_TEXT(text) ((char *)(uintptr_t)(text))

typedef struct skv_ldap_store {
    skv_store store;
    skv_pool *reads, *writes; /* the same pool without write_uri */
    atomic_bool wrote;        /* reads go to `writes` after a write */
    atomic_bool sees_base;    /* the base DN was read: the identity is not limited to folders below it */
    skv_pool_limits limits;
    int layout, retries;
    atomic_int page_size; /* lower than the option if a server takes smaller pages only */
    bool strict_paths, fold_case;
    int base_depth;    /* the number of RDNs of base_dn */
    char *base_dn;     /* owned, like the strings below */
    char *instance_dn; /* the entry above "globals" and "environments" */
    size_t instance_dn_len;
    char *identity; /* for messages: a bind DN, or a name for another identity */
} skv_ldap_store;

/* Lives on the stack of an operation, as the first member of its own struct. */
typedef struct skv_ldap_call {
    skv_ldap_store *store;
    const skv_key *key;        /* NULL for an entry that is not a key's */
    const char *name;          /* the key in messages, or the entry */
    const char *what, *failed; /* the start and end of messages, around the key: "Delete of", " failed" */
    skv_op op;
    bool writes;
    char *dn; /* owned: of the entry of the key or folder */
    skv_deadline *deadline;
    int64_t round_trip_ns;   /* the limit of each round trip; 0: `deadline` is for the whole operation */
    skv_deadline round_trip; /* the limits of the current round trip, then */
    skv_reply *reply;
    skv_pool *pool;
    skv_conn *conn; /* borrowed during an attempt */
    int retries;    /* left */
    bool again;     /* another attempt may succeed; the reason of the retry: */
    skv_retry reason;
    bool unsent;        /* the server has not received any of the request */
    bool was_silent;    /* the server did not respond to a read in its share of the time */
    int64_t silence_ns; /* that share; INT64_MAX for all of the time */
    bool in_doubt;      /* the response to a change was lost: it may have been made */
    bool is_stale;      /* another client has changed the entry: the attempt has to read it again */
    bool server_failed; /* the failure is the server's: other operations would fail as well */
} skv_ldap_call;

/* Prepares a call on a key or a folder (SKV_KIND_*), and refuses names that the store does not take. skv_ldap_end()
 * follows it, also after a failure. */
skv_status skv_ldap_begin(skv_ldap_call *call, skv_store *store, skv_op op, const skv_key *key, int kind,
                          skv_deadline *deadline, skv_reply *reply);

/* Prepares a call on any entry, without a key. */
skv_status skv_ldap_begin_entry(skv_ldap_call *call, skv_store *store, skv_op op, const char *dn,
                                skv_deadline *deadline, skv_reply *reply);

void skv_ldap_end(skv_ldap_call *call);

/* Runs attempts, each with a borrowed connection and an empty reply, until one succeeds or fails for good. Returns the
 * status. An attempt that keeps the connection sets call->conn to NULL; it counts the operation and returns the
 * connection later. */
skv_status skv_ldap_run(skv_ldap_call *call, skv_status (*attempt)(skv_ldap_call *));

/* Returns the reason why a directory matches other names with this name of an environment or instance, or NULL if it
 * does not. Its matching ignores case, maps compatible Unicode characters, and drops invisible ones. */
const char *skv_ldap_why_ambiguous(const char *name, size_t len);

/* Returns true for the folders of the structure: "", "globals", "environments", and an environment. No key can have
 * their names. */
bool skv_ldap_is_structure(const skv_key *key);

/* ---- Requests. Each fills a response, which the caller frees in every case, and returns its code. */

typedef struct skv_ldap_response {
    skv_ldap_code code; /* an LDAP result, or libldap's own code, which is negative */
    LDAPMessage *message;
    char *matched, *text;
    char **referrals;
    LDAPControl **controls;
} skv_ldap_response;

void skv_ldap_response_free(skv_ldap_response *response);

/* Returns true if a control has a value to read: liblber follows NULL in an empty one. */
bool skv_ldap_has_value(const LDAPControl *control);

/* The attributes to read: none. */
extern const char *const skv_ldap_no_attributes[];

/* Sets the limits of a request. Returns LDAP_SUCCESS, or LDAP_USER_CANCELLED if the call was interrupted before and its
 * grace period is over. */
skv_ldap_code skv_ldap_start(skv_ldap_call *call);

/* Returns the limits of the current round trip. */
static inline skv_deadline *skv_ldap_current_deadline(skv_ldap_call *call)
{
    return call->round_trip_ns ? &call->round_trip : call->deadline;
}

/* Receives the response to a read of one entry that was sent, or takes the error of sending it. */
skv_ldap_code skv_ldap_finish_read(skv_ldap_call *call, skv_ldap_code error, int id, skv_ldap_response *response);

/* Sets the code LDAP_INSUFFICIENT_ACCESS if the response to such a read is a success that shows no entry. */
void skv_ldap_note_hidden(skv_ldap_call *call, skv_ldap_response *response);

/* Reads one entry. The code is LDAP_INSUFFICIENT_ACCESS if the server does not show it. */
skv_ldap_code skv_ldap_read(skv_ldap_call *call, const char *dn, const char *const *attributes,
                            skv_ldap_response *response);

/* Reads one of the entries directly below the call's, if the filter of skv_ldap_search() finds any. Fills a response,
 * which the caller frees. Returns the entry, which is part of it, or NULL. */
LDAPMessage *skv_ldap_read_below(skv_ldap_call *call, const char *filter, const char *const *attributes,
                                 skv_ldap_response *response);

/* Sends a search for at most `limit` entries (LDAP_NO_LIMIT) without waiting; a NULL filter matches all entries that
 * the server shows. Returns LDAP_SUCCESS with *id set, or an error. */
skv_ldap_code skv_ldap_search(skv_ldap_call *call, const char *dn, int scope, const char *filter,
                              const char *const *attributes, LDAPControl *control, int limit, int *id);

/* Receives the response to a change that was sent, or takes the error of sending it. The change is in doubt if its
 * response was lost. */
skv_ldap_code skv_ldap_finish_change(skv_ldap_call *call, skv_ldap_code error, int id, skv_ldap_response *response);

/* Reads the result in response->message into the response. Returns its code. */
skv_ldap_code skv_ldap_parse(skv_ldap_call *call, skv_ldap_response *response);

/* Notes that another client has changed the entry since it was read. Returns SKV_CONFLICT, and leaves the reply alone.
 */
skv_status skv_ldap_stale(skv_ldap_call *call);

/* Pauses before a call reads an entry again that another client has changed; longer in later rounds, of which the first
 * is 1. Returns SKV_OK, or the reply's failure: SKV_TIMEOUT, SKV_INTERRUPTED. */
skv_status skv_ldap_pause(skv_ldap_call *call, int round);

/* Sets and returns the limits of the next round trip. */
skv_deadline *skv_ldap_round_trip(skv_ldap_call *call);

/* ---- Failures */

/* ldap/fail.c. Fails the reply for a response of the server or of libldap, and notes if the call may be tried again. */
skv_status skv_ldap_fail(skv_ldap_call *call, const skv_ldap_response *response);

/* Quotes the server's own text of a response, ": <text>", or returns an empty text. */
skv_quote skv_ldap_text_of(const skv_ldap_response *response);

/* Fails the reply with "<what> '<key>'<failed>: <why>", and the server of the connection, if any. */
skv_status skv_ldap_refuse(skv_ldap_call *call, skv_status status, const char *why);

/* Returns the number of RDNs of the matched DN in a response LDAP_NO_SUCH_OBJECT; 0 if the server does not tell it. */
int skv_ldap_matched_depth(const skv_ldap_response *response);

/* Fails the reply for an entry that does not exist, or that the identity may not see: the server does not tell which.
 * 389-DS reports success without an entry then. */
skv_status skv_ldap_fail_hidden(skv_ldap_call *call);

/* ldap/base.c. Returns false if such a response may be for an entry that exists and is hidden, or for a missing base
 * DN. */
bool skv_ldap_has_base(const skv_ldap_call *call, const skv_ldap_response *response);

/* Sets *is_visible if the identity sees the base DN, which is read until it does. Returns SKV_OK, or the reply's
 * failure. */
skv_status skv_ldap_look_at_base(skv_ldap_call *call, bool *is_visible);

/* Fails the reply if the entry of such a response is hidden, or the base DN is missing; else returns SKV_OK. */
skv_status skv_ldap_check_base(skv_ldap_call *call, const skv_ldap_response *response);

/* Returns the URI of the server that the call is connected to. */
const char *skv_ldap_server(const skv_ldap_call *call);

/* Returns the DN of a path (SKV_KIND_*); for "", the base DN. The caller frees it. Returns NULL on failure, with the
 * reply filled. */
char *skv_ldap_dn(const skv_ldap_store *store, int kind, const char *path, size_t len, skv_reply *reply);

#endif
