/*
 * net/gate.h - a layer between libldap and the bytes of the server, above TLS. It reads the frame of each message, and
 * ends the connection before libldap sees one that it has assertions about: docs/adr/0082.
 */
#ifndef SKV_NET_GATE_H
#define SKV_NET_GATE_H

#include "net/transport.h"

/* The most bytes of one message, and so of one entry: liblber allocates the announced length before it has received it,
 * so the gate refuses a larger one. Servers take documents of a few megabytes. */
#define SKV_INCOMING_MAX ((size_t)64 << 20)

/* The most bytes of an extended response, which the gate holds whole. Servers send some hundreds at most. */
#define SKV_EXTENDED_MAX 65536

/* Makes a gate the highest layer of a Sockbuf whose lowest layer is the transport. TLS places itself between the two,
 * whenever it starts. The Sockbuf owns the gate. Returns 0, or -1 when out of memory. */
int skv_gate_attach(skv_transport *transport, Sockbuf *sockbuf);

#endif
