/* net/bind.h - authentication to a server. */
#ifndef SKV_NET_BIND_H
#define SKV_NET_BIND_H

#include "net/connection.h"
#include "net/transport.h"

/*
 * Binds with identity->password, or with that of identity->password_file, which it reads anew, or without a password
 * by SASL EXTERNAL.
 * Sends nothing for SKV_ANONYMOUS: a server may refuse anonymous binds, and still serve a client that has not bound.
 * If the server refuses the password (49) and the file holds another one by then, tries that one once. With
 * identity->rotation, tries the last accepted password once as well, and notes there which password the server refused.
 * Returns false with the reply filled and *failure set.
 */
bool skv_bind(LDAP *ld, skv_transport *transport, const skv_uri *uri, const skv_identity *identity, skv_reply *reply,
              skv_conn_failure *failure);

#endif
