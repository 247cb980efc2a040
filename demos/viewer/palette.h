/* The colours of marks and their words: bluish green, orange, vermillion and blue of Okabe and Ito, which the
 * colour-blind tell apart ("Color universal design", 2008).  sRGB. */
#ifndef DEMOS_VIEWER_PALETTE_H
#define DEMOS_VIEWER_PALETTE_H

static const float palette_mode[3][4] = {
    {0.55f, 0.58f, 0.62f, 1}, /* open */
    {0.00f, 0.62f, 0.45f, 1}, /* stick */
    {0.90f, 0.62f, 0.00f, 1}, /* slip */
};
static const float palette_force[4] = {0.84f, 0.27f, 0.00f, 1}, palette_slip[4] = {0.00f, 0.45f, 0.70f, 1};
static const float palette_notable[4] = {0.69f, 0.06f, 0.36f, 1};

#endif
