/* What a scene of bodies without joints is made of, for engines that are not ODE: they find their own contacts. */
#ifndef DEMOS_BENCH_SOLIDS_H
#define DEMOS_BENCH_SOLIDS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SceneWorld SceneWorld;

typedef enum SolidKind { SOLID_BOX, SOLID_SPHERE, SOLID_CAPSULE, SOLID_CYLINDER, SOLID_PLANE } SolidKind;

typedef struct Solid {
    SolidKind kind;
    double size[4];          /* m: half lengths; radius; radius and half length (axis z); n . x = d of a plane */
    double mass, inertia[3]; /* kg, kg m^2 about its own axes; 0: of the world */
    double position[3], quaternion[4]; /* m; w first */
    double velocity[6];                /* m/s, rad/s, world axes */
} Solid;

typedef struct Solids {
    int count;    /* those of the world, then the bodies in the order of the scene */
    int fixed;    /* how many are of the world */
    Solid *solid; /* (count) */
    double mu;    /* of each contact */
    double gravity[3];
} Solids;

/* NULL, or why it has none. */
const char *solidsTake(Solids *solids, const SceneWorld *world);
void solidsFree(Solids *solids);

#ifdef __cplusplus
}
#endif
#endif
