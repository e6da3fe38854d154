/*
 * awake.h - waiting without going to sleep. To be woken up takes longer than a server nearby takes to answer; on
 * virtual machines, whose idle processors are given away, several times as long. docs/adr/0011 has what was measured.
 */
#ifndef SKV_AWAKE_H
#define SKV_AWAKE_H

#include "wait.h"

/* Where answers usually take less than this, they are waited for awake, for so long at the most. */
#define SKV_AWAKE_NS (200 * INT64_C(1000))

/* What is known of a connection's answers. Belongs to who uses the connection. */
typedef struct skv_awake {
    int64_t usual_ns;      /* how long they take */
    int64_t rest_until_ns; /* before that, others need the processor */
} skv_awake;

void skv_awake_init(skv_awake *awake);

/* Waits for something to read on a socket; whether there is. False, often at once, means that it is to be waited for
 * asleep. */
bool skv_awake_wait(skv_awake *awake, int socket);

/* To be told how long each answer took. */
void skv_awake_learn(skv_awake *awake, int64_t ns);

#endif
