/* chaos.h - makes each allocation of the core fail in turn. */
#ifndef SKV_TEST_CHAOS_H
#define SKV_TEST_CHAOS_H

/*
 * Runs `scenario` once. In the chaos build (make chaos), runs it again and again, with the first, the second, ...
 * allocation failing, until none fails. `scenario` checks that every call returns SKV_NOMEM or succeeds, and that no
 * document is lost or half-written. The allocations of jansson count as well.
 */
void chaos(void (*scenario)(void));

#endif
