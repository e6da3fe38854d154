/*
 * net/pool_password.h - the passwords of a pool while an administrator replaces the password, first in the file and
 * then in the directory. The pool keeps the last password that a server accepted, until a server accepts another one.
 *
 * Binds begin with that password while the file is the same. If the file has changed, one call at a time binds with its
 * new password. If the server refuses it, it gets the last password once. If it accepts that, binds begin with it until
 * a server refuses it, or the file changes again. So a replacement costs two refused binds, one when the file changes
 * and one when the directory does, and an accepted one follows each: the server does not lock the account.
 */
#ifndef SKV_NET_POOL_PASSWORD_H
#define SKV_NET_POOL_PASSWORD_H

#include "net/pool_failover.h"

/* Copies the pool's passwords for an attempt to connect. The caller wipes the copy. Under the lock. */
void skv_pool_get_rotation(const skv_pool *pool, const skv_search *search, const skv_turn *turn,
                           skv_rotation *rotation);

/* Notes the outcome of that attempt, unless another one has changed the pool's passwords meanwhile: a bind that is
 * older than the replacement must not bring the old password back. Under the lock. */
void skv_pool_note_rotation(skv_pool *pool, const skv_search *search, int server, const skv_rotation *rotation,
                            bool is_connected);

#endif
