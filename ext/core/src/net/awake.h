/*
 * awake.h - waiting without going to sleep. To be woken up takes longer than a server nearby takes to answer; on
 * virtual machines, whose idle processors are given away, several times as long. docs/adr/0011 has what was measured.
 */
#ifndef SKV_NET_AWAKE_H
#define SKV_NET_AWAKE_H

#include "base/wait.h"

/* Who waits awake gives up after this. */
#define SKV_AWAKE_NS (200 * INT64_C(1000))

/* One connection's. Belongs to who uses the connection. */
typedef struct skv_awake {
    int64_t rest_until_ns; /* before that it is not worth while */
} skv_awake;

/* Waits for something to read on a socket; whether there is. False, often at once, means that it is to be waited for
 * asleep. */
bool skv_awake_wait(skv_awake *awake, int socket);

#endif
