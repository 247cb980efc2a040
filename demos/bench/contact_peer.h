/* A solver that is no part of ODE, on the contacts of a scene.
 *
 * It sees the bodies, contacts and, if it keeps them, last impulses that a scene under Sprag has, step by step, with
 * position correction as ODE's, so that it solves the same problem. */
#ifndef DEMOS_BENCH_CONTACT_PEER_H
#define DEMOS_BENCH_CONTACT_PEER_H

#include "bench/contact_set.h"

#ifdef __cplusplus
extern "C" {
#endif

/* It lives until its process ends. */
typedef struct ContactPeer {
    /* Impulses r (contact_count x 3) in the frames of the set.  Returns the seconds of the solver alone. */
    double (*solve)(struct ContactPeer *self, const ContactSet *set, double *r);
} ContactPeer;

/* iterations: at most, of what iterates. */
typedef ContactPeer *ContactPeerMake(int iterations);

ContactPeerMake bulletPeerMake, dartPeerMake; /* built where libbullet-dev, libdart-dev are installed */

#ifdef __cplusplus
}
#endif
#endif
