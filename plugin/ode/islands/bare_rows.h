/* The rows of a bare island (bare.h) while they are made. */
#ifndef SPRAG_ODE_BARE_ROWS_H
#define SPRAG_ODE_BARE_ROWS_H

#include <stdatomic.h>

#include "ode/islands/bare.h"
#include "ode/rows/face.h"
#include "ode/shape/curvature.h"

typedef struct spragBareRows {
    struct spragWorld *world;
    spragIsland *island;
    spragBare *bare;
    double (*foreseen)[3]; /* (body_count) as of spragFreeMotion; or NULL */
    const spragPointerMap *surfaces;
    int sticks; /* 1: contacts may have mu = infinity, */
    int rolls;  /* 1: and rolling friction */
    int weighs; /* 1: bodies that slept do not matter */
    /* Contacts that begin a group (below): of each range opener_count from opener[opener_start] on. */
    int *opener; /* (joint_count) */
    int opener_start[SPRAG_RANGES_MOST], opener_count[SPRAG_RANGES_MOST];
    atomic_int refused; /* 1: some contact is not plain, or slides with p <= 0, or a body has no mass */
} spragBareRows;

/* What a contact may take over from the one before it. */
typedef struct spragBareBefore {
    const dContactGeom *geom; /* NULL: there is none */
    int own_frame;            /* 1: its tangents follow from its normal alone */
    const spragBodyState *body[2];
    spragGeomRadius geom_radius[2]; /* the geoms of these */
    spragCurvature curvature;       /* at a contact with the normal n */
    double n[3];
    int is_flat; /* 1: of the geoms and n alone, whatever the point */
    spragFace face;
    const int *pair; /* of the last contact that shares its pair with others; or NULL, */
    double push[3];  /* and of the first of its group */
} spragBareBefore;

/* May a contact of the island be like this? */
int spragBareIsPlain(const spragBareRows *rows, const spragJointState *joint);

/* As a contact knows the geom, of that radius (curvature.h). */
spragGeomRadius spragGeomRadiusOf(double radius, dGeomID geom);

/* Rows, q, guess and history of contact k, as ode/rows/rows.c and ode/matrix/assemble.c have them. */
void spragBareContactFill(const spragBareRows *rows, int k, spragBareBefore *before);

/* Row, q and guess of its rolling friction, the same. */
void spragBareRollFill(const spragBareRows *rows, int k);

/* Fills rows->bare.  0: some contact refuses, or there is no memory. */
int spragBareRowsMake(spragBareRows *rows);

#endif
