/* Checks that the files of sprag_ode.h share. */
#ifndef SPRAG_API_API_ODE_H
#define SPRAG_API_API_ODE_H

#include <sprag/sprag_ode.h>

/* OK, or what is wrong with it; spragFail has the sentence. */
spragStatus spragApiCheckConfig(const spragConfig *config);
spragStatus spragApiCheckSurface(const spragSurface *surface);
/* OK for a live attachment that is not within its step: ODE's moved callbacks come then, while the step still follows
 * what the call would change. */
spragStatus spragApiCheckFree(spragWorldID world);

/* spragWorldAttach asks dlsym for this name, which nobody defines: a preloaded Sprag hears it and stands aside. */
#define SPRAG_PRELOAD_NAME "spragPreloadStandAside"

#endif
