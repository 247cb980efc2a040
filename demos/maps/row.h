/* A row of the picture: one value of the second key, friction from one end of the axis to the other.
 *
 * The scene is built twice, with the friction of the middle and of the right end, and makes one step, too short to
 * move.  The dumped problem holds A = W and b = (q - slip) / h; A and b are the same along the row, and mu of each
 * contact is linear: mu + t rate, t in 0 .. 1. */
#ifndef DEMOS_MAPS_ROW_H
#define DEMOS_MAPS_ROW_H

#include "maps/options.h"

enum { MAP_CONTACTS = SPRAG_PARADOX_CONTACT_MAX, MAP_ROWS = 3 * MAP_CONTACTS };

/* The contact state at the left end, and how its mu goes along the row. */
typedef struct MapRow {
    spragContactState state;
    double A[MAP_ROWS * MAP_ROWS], b[MAP_ROWS], slip[2 * MAP_CONTACTS], mu[MAP_CONTACTS], rate[MAP_CONTACTS];
    unsigned char two_sided[MAP_CONTACTS];
} MapRow;

/* y: value of the second key; scratch: a file that may be written.  0: refused, and said why. */
int mapMakeRow(const MapOptions *o, double y, const char *scratch, MapRow *row);
/* The number of solutions at t, and whether one of them is rest.  0: as above. */
int mapCountAt(const MapRow *row, double t, int *count, int *rests);

#endif
