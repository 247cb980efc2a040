/* How the preload library tells the drop-in functions its configuration. */
#ifndef SPRAG_API_DROP_IN_H
#define SPRAG_API_DROP_IN_H

#include <sprag/sprag_ode.h>

/* config is asked for each world when it is attached; attached (may be NULL) is called after it.  Before first use. */
void spragDropInSetup(spragConfig (*config)(dWorldID), void (*attached)(spragWorldID));

#endif
