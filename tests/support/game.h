/* A world that is played: contacts of everything that touches, a step after the other. */
#ifndef TESTS_SUPPORT_GAME_H
#define TESTS_SUPPORT_GAME_H

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "support/check.h"

typedef struct Game {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    double mu;   /* 0.6 unless it is set */
    double slip; /* of dContactSlip1, dContactSlip2, m/s per N; 0: none */
} Game;

/* A floor, gravity and Sprag.  config: NULL for the default. */
static inline void openGame(Game *game, const spragConfig *config)
{
    *game = (Game){.world = dWorldCreate(), .space = dHashSpaceCreate(NULL), .group = dJointGroupCreate(0), .mu = 0.6};
    dWorldSetGravity(game->world, 0, 0, -9.81);
    dWorldSetCFM(game->world, 1e-5);
    dCreatePlane(game->space, 0, 0, 1, 0);
    assert_int_equal(spragWorldAttach(game->world, config, &game->sprag), SPRAG_OK);
}

static inline void freeGame(Game *game)
{
    spragWorldDetach(game->sprag);
    dJointGroupDestroy(game->group);
    dSpaceDestroy(game->space);
    dWorldDestroy(game->world);
}

static inline void onGameNear(void *data, dGeomID a, dGeomID b)
{
    enum { POINTS = 8 };
    Game *game = data;
    dContact contact[POINTS];
    for (int count = dCollide(a, b, POINTS, &contact[0].geom, sizeof contact[0]), i = 0; i < count; ++i) {
        contact[i].surface =
            (dSurfaceParameters){.mode = dContactApprox1, .mu = game->mu, .slip1 = game->slip, .slip2 = game->slip};
        contact[i].surface.mode |= game->slip > 0 ? dContactSlip1 | dContactSlip2 : 0;
        dJointAttach(spragJointCreateContact(game->sprag, game->group, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
    }
}

/* h: s */
static inline void stepGame(Game *game, double h)
{
    dSpaceCollide(game->space, game, onGameNear);
    assert_int_equal(spragWorldStep(game->sprag, h), SPRAG_OK);
    dJointGroupEmpty(game->group);
}

/* With its centre of mass there.  density: kg/m^3 */
static inline dBodyID addBox(Game *game, double x, double y, double z, const double size[3], double density)
{
    dMass mass;
    const dBodyID body = dBodyCreate(game->world);
    dMassSetBox(&mass, density, size[0], size[1], size[2]);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, y, z);
    dGeomSetBody(dCreateBox(game->space, size[0], size[1], size[2]), body);
    return body;
}

static inline dBodyID addBall(Game *game, double x, double y, double z, double radius, double density)
{
    dMass mass;
    const dBodyID body = dBodyCreate(game->world);
    dMassSetSphere(&mass, density, radius);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, y, z);
    dGeomSetBody(dCreateSphere(game->space, radius), body);
    return body;
}

#endif
