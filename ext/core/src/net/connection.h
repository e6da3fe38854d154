/*
 * net/connection.h - one connection to one directory server: dialled by ourselves, TLS, bound, root DSE read. It
 * belongs to one thread at a time, and has one operation in flight.
 */
#ifndef SKV_NET_CONNECTION_H
#define SKV_NET_CONNECTION_H

#include "base/deadline.h"
#include "net/code.h"
#include "net/failure.h"

typedef struct skv_tls_context skv_tls_context;

/* The bind_dn of somebody who does not bind. It is not a DN, so that it differs from every identity. */
#define SKV_ANONYMOUS "anonymous"

/* As whom, and how protected: with the server, what makes two connections interchangeable. Strings are owned, "" for
 * none. */
typedef struct skv_identity {
    char *bind_dn;       /* without a password_file: "" for SASL EXTERNAL, SKV_ANONYMOUS for no bind at all */
    char *password_file; /* read anew for each bind */
    bool starttls;       /* with ldap:// */
    char *cacert, *cert, *key;
    skv_tls_context *tls; /* what its connections share; the pool's affair: NULL for others */
} skv_identity;

#define SKV_VENDOR_MAX 128

/* What the root DSE says. Read once for a connection. */
typedef struct skv_features {
    bool assertion; /* control 1.3.6.1.1.12 */
    bool pre_read;  /* control 1.3.6.1.1.13.1 */
    bool paging;    /* control 1.2.840.113556.1.4.319 */
    bool is_389ds;  /* by vendorName/vendorVersion or its own attributes */
    /* vendorVersion, else vendorName, else what its object class says: in ASCII, cut; "" for nothing. The rank is which
     * of these. */
    int vendor_rank;
    char vendor[SKV_VENDOR_MAX];
} skv_features;

/* What the TLS of a connection came to, for people. */
typedef struct skv_tls_facts {
    bool is_on, is_dated;
    char protocol[32], cipher[64]; /* as the TLS library spells them; "" for unknown */
    int64_t certificate_ends;      /* the server's, in seconds since 1970; if is_dated */
} skv_tls_facts;

/* How many bytes the server takes in one message: what else is not found out when a connection is made. */
typedef struct skv_message_limit {
    size_t bytes; /* 0: not known yet */
    bool is_told; /* by the server; else it is what is usual */
} skv_message_limit;

typedef struct skv_conn skv_conn;

/*
 * Dials (non-blocking, CLOEXEC, keepalive, TCP_USER_TIMEOUT), does TLS, binds, and reads the root DSE, before the
 * deadline. NULL on failure, with the reply filled (it names the server, what is wrong and what to do) and *failure
 * set. Nothing is sent on a handle whose TLS handshake failed. With TLS, the certificate and host name are always
 * verified, against identity->cacert; minimum 1.2; nothing of ldap.conf, ldaprc or the environment counts.
 * When the server answers 49 and the password file holds another password by then, that one is tried once.
 */
skv_conn *skv_conn_open(const skv_uri *uri, const skv_identity *identity, skv_deadline *deadline, skv_reply *reply,
                        skv_conn_failure *failure);

/* Unbinds and frees. Never blocks. */
void skv_conn_close(skv_conn *conn);

/* Frees without a word to the server: for a dead or half-used connection, and in a forked child, where the session is
 * the parent's: the descriptor is closed, the handle is leaked on purpose. */
void skv_conn_discard(skv_conn *conn, bool forked);

/* Whether the server has not hung up, as far as the socket tells without a round trip. */
bool skv_conn_is_alive(const skv_conn *conn);

/* False after a failed, timed-out or interrupted operation: only skv_conn_discard() is left. */
bool skv_conn_is_usable(const skv_conn *conn);

const skv_uri *skv_conn_uri(const skv_conn *conn);
const skv_features *skv_conn_features(const skv_conn *conn);
const skv_tls_facts *skv_conn_tls(const skv_conn *conn);
skv_message_limit *skv_conn_message_limit(skv_conn *conn);

/* Whatever the pool keeps with a connection. */
void skv_conn_set_owner(skv_conn *conn, void *owner);
void *skv_conn_owner(const skv_conn *conn);

/* The libldap handle, to start an asynchronous operation on (ldap_search_ext, ldap_add_ext, ...), between
 * skv_conn_begin() and skv_conn_result(). */
LDAP *skv_conn_handle(skv_conn *conn);

/* Sets the limits under which the next operation sends and waits. */
void skv_conn_begin(skv_conn *conn, skv_deadline *deadline);

/* What a failed ldap_*_ext() means: LDAP_TIMEOUT, LDAP_USER_CANCELLED, LDAP_SERVER_DOWN when the connection stopped it,
 * which is not usable then; else the code as it is. */
skv_ldap_code skv_conn_send_error(skv_conn *conn, skv_ldap_code code);

/* Not usable any more: after an unfinished search, or result 52. */
void skv_conn_invalidate(skv_conn *conn);

/*
 * Waits for the next message of an operation: LDAP_SUCCESS with *message set (owned by the caller: ldap_msgfree), or a
 * libldap error: LDAP_TIMEOUT (deadline), LDAP_SERVER_DOWN (the connection is lost), ... after which the connection is
 * not usable; or LDAP_USER_CANCELLED (interrupt): then the message is still to come, and is either waited for again,
 * after another skv_conn_begin(), or the caller invalidates the connection. `all`: LDAP_MSG_ALL or LDAP_MSG_ONE.
 */
skv_ldap_code skv_conn_result(skv_conn *conn, int message_id, int all, LDAPMessage **message);

/* Whether any byte was handed to the socket since skv_conn_begin(): if not, the operation can safely be tried
 * elsewhere. */
bool skv_conn_has_sent(const skv_conn *conn);

#endif
