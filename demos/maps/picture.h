/* The picture of sprag-map: the plane, its axes and its legend. */
#ifndef DEMOS_MAPS_PICTURE_H
#define DEMOS_MAPS_PICTURE_H

#include "maps/options.h"
#include "maps/text.h"

enum { MAP_LEFT = 80, MAP_TOP = 60, MAP_RIGHT = 190, MAP_BOTTOM = 60 }; /* pixels around the plot */

/* scratch: a file that may be written.  0: refused, and said why. */
int mapDraw(const MapOptions *o, const char *scratch, Picture *p);

#endif
