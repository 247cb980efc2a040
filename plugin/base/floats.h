/* The floating-point environment of the calling thread.
 *
 * Hosts change it: games flush denormal numbers to zero, debugging builds let a division by zero end the program,
 * interval arithmetic rounds upwards.  Sprag divides by zero where that is cheaper than a test, and its results are to
 * be the same everywhere.  So it computes with the default environment, and what belongs to the host (ODE's own step,
 * callbacks) runs with the host's.  The compiler knows nothing of this: it may move arithmetic across take and give, so
 * what lies between them belongs into functions of its own. */
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
