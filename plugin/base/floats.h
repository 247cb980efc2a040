/* The floating-point environment of the calling thread.  Hosts change it: games flush denormal numbers to zero, who
 * looks for a mistake lets a division by zero end the program, interval arithmetic rounds upwards.  Sprag divides by
 * zero where that is cheaper than to ask, and its results are to be the same everywhere; so it computes with the
 * default environment, and what is the host's (ODE's own step, callbacks) runs with the host's.  (The compiler knows
 * nothing of this: between take and give arithmetic belongs into functions of its own.) */
#ifndef SPRAG_BASE_FLOATS_H
#define SPRAG_BASE_FLOATS_H

#include <fenv.h>

typedef struct spragFloats {
    fenv_t all; /* if !quick */
    unsigned sse;
    int quick; /* 1: only SSE's register is to be put back */
} spragFloats;

/* The default environment from here on; returns what was in its place. */
spragFloats spragFloatsTake(void);
/* Puts it back, with the exceptions that had been raised then. */
void spragFloatsGive(const spragFloats *host);

/* From here to the end of the block, by whatever way it is left. */
#define SPRAG_FLOATS __attribute__((cleanup(spragFloatsGive), unused)) const spragFloats floats = spragFloatsTake()

#endif
