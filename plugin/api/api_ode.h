/* Checks that the files of sprag_ode.h share. */
#ifndef SPRAG_API_API_ODE_H
#define SPRAG_API_API_ODE_H

#include <sprag/sprag_ode.h>

/* First line of every function: clears the detail, refuses NULL and what was detached. */
spragStatus spragApiCheckWorld(spragWorldID world);
spragStatus spragApiCheckSurface(const spragSurface *surface);
/* The live attachment that holds the guide, or NULL: it is none, or was destroyed. */
spragWorldID spragApiGuideWorld(spragGuideID guide);

#endif
