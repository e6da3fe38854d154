/* chaos.h - makes each allocation of the core fail in turn. */
#ifndef SKV_TEST_CHAOS_H
#define SKV_TEST_CHAOS_H

/*
 * Runs `scenario` in the chaos build (make chaos) once for each allocation that it makes, the first, the second, ... of
 * which fails, until a run makes none fail; elsewhere once. `scenario` checks what must hold even then: a call answers
 * SKV_NOMEM or succeeds, and nothing is lost or half-written. jansson's allocations count as well.
 */
void chaos(void (*scenario)(void));

#endif
