/* net/bind.h - who we are to the server. */
#ifndef SKV_NET_BIND_H
#define SKV_NET_BIND_H

#include "net/connection.h"
#include "net/transport.h"

/*
 * Binds: with the password of identity->password_file, read anew, or without one by SASL EXTERNAL; sends nothing for
 * SKV_ANONYMOUS, because a server may refuse anonymous binds and yet answer a client that has not bound. When the
 * server refuses the password (49), and the file holds another one by now, that one is tried once. False with the reply
 * filled and *failure set.
 */
bool skv_bind(LDAP *ld, skv_transport *transport, const skv_uri *uri, const skv_identity *identity, skv_reply *reply,
              skv_conn_failure *failure);

#endif
