/* Four islands of one body each (lone.h), side by side: from ODE's contacts into lanes, and to rows. */
#ifndef SPRAG_ODE_LONE_GROUP_H
#define SPRAG_ODE_LONE_GROUP_H

#include "ode/islands/lone_drive.h"
#include "ode/shape/curvature.h"
#include "ode/world/world.h"
#include "solve/search/lone.h"

typedef struct spragLoneRow {
    /* in */
    spragQuad target;               /* m/s, normal velocity asked for */
    spragQuad bounce, bounce_speed; /* restitution of approaches faster than this, m/s */
    spragQuad radius;               /* m, of the body's surface; NaN: unknown, no velocity-product term */
    spragQuad middle[3];            /* m, of its face (face.h), from the centre of mass */
    spragQuad product[3], rest[3];  /* m/s^2, as of spragLoneDrive; in driven groups alone */
    spragQuadMask known, stuck;     /* it was there in the last step; it stuck */
    /* in: of the last step; out */
    spragQuad force, friction[3]; /* N */
    /* out */
    spragQuad approach;      /* m/s, normal velocity at the start of the step, less h carried */
    spragQuad slip[3];       /* m/s, at its start; 0 where it rests */
    spragQuad drive;         /* m/s, what forces add to its slip within the step */
    spragQuad own;           /* 1/kg, its normal response to its own normal impulse */
    spragQuad p, b;          /* of the sliding contact alone, 1/kg, m/s^2 */
    spragQuad slip_after[3]; /* m/s */
    spragQuad mode;          /* spragMode */
} spragLoneRow;

/* The rim on which it is (curvature.h). */
typedef struct spragLoneRim {
    spragQuad axis[3], radius, share; /* 0: none */
} spragLoneRim;

typedef struct spragLoneGroup {
    spragLoneBodies bodies;
    double step;                             /* s */
    int driven;                              /* 1: bodies on what is driven; else what follows is as that sees it */
    spragQuad product_step;                  /* s, the same or less: spragProductLimit */
    spragQuad velocity[6], free_velocity[6]; /* m/s, rad/s, against what they touch */
    spragQuad energy;                        /* J, of that motion */
    spragLoneRow *row;                       /* (bodies.count) */
    spragLoneRim *rim;                       /* (bodies.count), filled where has_rims, of groups that are not driven */
    int has_rims;
    spragQuadMask regular;                     /* no contact can have a paradox */
    spragIsland *island[SPRAG_QUAD];           /* (filled) */
    int face[SPRAG_LONE_CONTACTS][SPRAG_QUAD]; /* the first contact of that of each */
    int filled;
} spragLoneGroup;

static inline void spragLoneVector(double out[3], const spragQuad of[3], int lane)
{
    for (int i = 0; i < 3; ++i)
        out[i] = of[i][lane];
}

/* What a solved island needs, with its records, to be looked at again. */
typedef struct spragLoneLaw {
    double mu, compliance, target, radius; /* as above */
    const spragRim *rim;                   /* or NULL */
    int face;                              /* the first contact of its face */
} spragLoneLaw;

/* What the program said of the contact's surface, or NULL. */
const spragSurface *spragLoneSurface(const struct spragWorld *world, const spragPointerMap *surfaces,
                                     const spragJointState *joint);

/* Of bodies with `count` contacts each, with no island in it yet, in memory of the arena; NULL: no memory. */
spragLoneGroup *spragLoneGroupMake(const struct spragWorld *world, spragArena *arena, int count, int driven);

/* The island, with its body's free motion, goes into the next lane.  driver: as of spragLoneDriver. */
void spragLonePut(const struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island, int driver,
                  spragLoneGroup *group);

/* Its rows, and group->regular, once the lanes are filled; what is empty of them gets what the first has. */
void spragLoneRows(spragLoneGroup *group);

/* Once it is solved: modes and forces, as ode/step/report.c tells of them. */
void spragLoneRead(spragLoneGroup *group);

/* Of a solved island, after the step: the group of it alone, with its rows,
 * in memory of the arena.  NULL: no memory. */
const spragLoneGroup *spragLoneAgain(const struct spragWorld *world, const spragIsland *island, spragArena *arena);

#endif
