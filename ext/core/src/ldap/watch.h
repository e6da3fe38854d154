/*
 * ldap/watch.h - a watch in a directory. It has a connection of its own, on which a search never ends. It knows the
 * keys of the folder and their versions, from a refresh that has all entries; the server then tells of each change.
 * When the search or the connection ends, the watch connects again, and compares another refresh with what it knows. It
 * does not compare the refresh of a server that may lag behind the last one, and so lack keys that nobody has deleted.
 *
 *     connected --------> REFRESHING (content synchronization)
 *         |                    | all entries were sent
 *         v                    v
 *      PAUSING --> LISTING --> FOLLOWING --> DOWN ---> connected
 *     (persistent search)  ^        |
 *                          +--------+ once more
 *
 * A persistent search of 389-DS does not tell when it begins to see changes: the watch lists the folder a second after
 * it has sent the search, and again later, and compares the lists.
 *
 * A server that has sent nothing for the time that an operation may take is asked for its root DSE, and has as much
 * time again to send anything. One that sends a refresh is not asked.
 */
#ifndef SKV_LDAP_WATCH_H
#define SKV_LDAP_WATCH_H

#include "ldap/known.h"
#include "ldap/search.h"

#include <sys/types.h>

#define SKV_WATCH_SECOND_NS (1000 * SKV_NS_PER_MS)

/* The time between two attempts to connect, which doubles up to 30 s. */
#define SKV_WATCH_RETRY_NS SKV_WATCH_SECOND_NS

/* The time from the first list beside a persistent search to the second, which makes sure. */
#define SKV_WATCH_SECOND_LIST_NS (10 * SKV_WATCH_SECOND_NS)

typedef enum skv_watch_phase {
    SKV_WATCH_DOWN,
    SKV_WATCH_PAUSING,
    SKV_WATCH_LISTING,
    SKV_WATCH_REFRESHING,
    SKV_WATCH_FOLLOWING
} skv_watch_phase;

typedef struct skv_ldap_watch {
    skv_ldap_call call; /* its connection is owned, or NULL while DOWN */
    skv_changes changes;
    skv_key folder;
    const char *dn; /* of the search */
    skv_conn *kept; /* by an attempt to connect */
    pid_t pid;      /* that has connected */
    int id;         /* of the search */
    int probe_id;   /* of the request that asks whether the server is there; 0: none is under way */
    bool is_sync;   /* content synchronization */
    skv_watch_phase phase;
    skv_ldap_known known;
    skv_ldap_search_state list;
    int64_t next_ns;             /* of the next attempt, the next list; 0: there is none */
    int64_t retry_ns, failed_ns; /* the time to the next attempt; since when they fail, 0 if they do not */
    int64_t followed_ns;         /* since when it follows */
    int64_t limit_ns, silent_ns; /* how long the server may send nothing; the end of that */
    skv_reply *rest;             /* owned: the last part of a page, or the failure that came after it */
    bool is_ready, has_since, has_csns;
    bool is_lost;      /* the caller knows that the connection is lost */
    bool is_past_csns; /* a change came without its number: more is known than the numbers tell */
    skv_csns since, csns;
    skv_uri server;       /* of the last refresh */
    skv_csns server_csns; /* of all that is known; none if the server did not tell all */
    bool is_same_server;  /* the connection is to that server */
    char cookie[SKV_COOKIE_MAX + 1];
    char path[SKV_KEY_MAX + 1];
} skv_ldap_watch;

/* What a cookie begins with; the change sequence numbers follow. */
#define SKV_WATCH_COOKIE "ldap:"

/* ---- ldap/watch_connect.c */

/* Connects for the first time. Returns SKV_OK, or the reply's failure. */
skv_status skv_watch_connect(skv_ldap_watch *watch);

/* Connects again, with a limit of its own. The reply has the failure that ends the watch, or changes. */
void skv_watch_connect_again(skv_ldap_watch *watch);

/* Notes that the server has sent something, or has just been asked. */
void skv_watch_note_life(skv_ldap_watch *watch);

/* Gives the connection up, and connects again later. */
void skv_watch_connect_later(skv_ldap_watch *watch);

/* Takes the reply's failure: it ends the watch, unless the server may be back soon. The reply is empty then. */
void skv_watch_take_failure(skv_ldap_watch *watch);

void skv_watch_drop_connection(skv_ldap_watch *watch);

/* Returns the attributes that tell one version of a key from another one. */
const char *const *skv_watch_attributes(const skv_ldap_watch *watch);

/* Appends the records of a reply to a page. */
void skv_watch_append(skv_reply *page, const skv_reply *more);

/* Appends a record about the watch itself. */
void skv_watch_add_state(skv_ldap_watch *watch, char kind);

/* ---- ldap/watch_messages.c */

/* Starts to list the folder, on the connection of a persistent search. */
void skv_watch_start_list(skv_ldap_watch *watch);

/* Take the next entry of the list; the next message of the search. Return false if it did not come in time. */
bool skv_watch_list_entry(skv_ldap_watch *watch);
bool skv_watch_await_message(skv_ldap_watch *watch);

#endif
