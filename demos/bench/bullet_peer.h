/* Bullet's sequential-impulse solver on the contacts of a scene.  Built only where libbullet-dev is installed.
 *
 * It sees the bodies, contacts and last impulses that a scene under Sprag has, step by step: two
 * friction directions, Bullet's own warm start, position correction as ODE's (no split impulse, no
 * slop), so that it solves the same problem. */
#ifndef DEMOS_BENCH_BULLET_PEER_H
#define DEMOS_BENCH_BULLET_PEER_H

#include "bench/contact_set.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct BulletPeer BulletPeer;

/* It lives until its process ends. */
BulletPeer *bulletPeerCreate(int iterations);
/* Impulses r (contact_count x 3) in the frames of the set.  Returns the seconds of solveGroup alone. */
double bulletPeerSolve(BulletPeer *peer, const ContactSet *set, double *r);

#ifdef __cplusplus
}
#endif
#endif
