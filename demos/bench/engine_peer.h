/* Other engines as they are, with their own colliders, on the solids of a scene. */
#ifndef DEMOS_BENCH_ENGINE_PEER_H
#define DEMOS_BENCH_ENGINE_PEER_H

#include "bench/solids.h"

#ifdef __cplusplus
extern "C" {
#endif

/* It lives until its process ends. */
typedef struct EnginePeer {
    void (*step)(struct EnginePeer *self);
    /* m, of the scene's body. */
    void (*position)(const struct EnginePeer *self, int body, double x[3]);
} EnginePeer;

/* step: s. */
typedef EnginePeer *EnginePeerMake(const Solids *solids, double step);

EnginePeerMake bulletEngineMake, dartEngineMake; /* built where libbullet-dev, libdart-dev are installed */

#ifdef __cplusplus
}
#endif
#endif
