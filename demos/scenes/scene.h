/* A scene: an ODE world with a name, keys and a contact routine.  Shared by viewer, tests and benchmark; needs no GL.
 *
 * A scene file defines one `const Scene` and is listed in scenes.c.  The runner (scene.c) owns the stepping. */
#ifndef DEMOS_SCENES_SCENE_H
#define DEMOS_SCENES_SCENE_H

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

enum { SCENE_KEY_MAX = 16, SCENE_BODY_MAX = 20000, SCENE_TIP_MAX = 4, SCENE_GUIDE_MAX = 16 };

#define SCENE_WHOLE "whole" /* a count, or one of two: no fraction */
enum { SCENE_ERROR_SIZE = 160 };

typedef struct SceneKey {
    const char *name; /* as typed after --set */
    const char *unit; /* "m", "deg", "rad/s", "", SCENE_WHOLE */
    double value;     /* default */
    double min, max;  /* inclusive */
    const char *text; /* one line */
} SceneKey;

/* 1: the key may have this value; else why says what it must be. */
int SceneKeyFits(const SceneKey *key, double value, char why[SCENE_ERROR_SIZE]);

/* What the viewer draws.  Sizes are half-lengths / radii in m. */
typedef enum SceneShapeKind { SCENE_BOX, SCENE_SPHERE, SCENE_CAPSULE, SCENE_CYLINDER, SCENE_CONE } SceneShapeKind;
typedef struct SceneShape {
    SceneShapeKind kind;
    dBodyID body;       /* NULL: fixed in the world */
    double position[3]; /* of the shape in the body (or world) frame */
    double rotation[9]; /* row-major, of the shape in the body frame; all 0: not turned */
    /* BOX: half lengths; SPHERE: r; CAPSULE, CYLINDER, CONE: r, half length (axis z; the cone's tip at -z) */
    double size[3];
    float color[3];
} SceneShape;

typedef struct SceneWorld SceneWorld;

typedef enum SceneSolver { SCENE_SPRAG, SCENE_ODE_STEP, SCENE_ODE_QUICK } SceneSolver;

typedef struct Scene {
    const char *name;     /* "rod" */
    const char *line;     /* one line for --list */
    const SceneKey *keys; /* ends with a NULL name */
    double step_size;     /* s, default */
    double duration;      /* s, default length of a headless run */
    double camera[6];     /* eye, target, m */
    int followed;         /* the camera keeps so many of the first bodies in the picture */
    /* Builds bodies, geoms, shapes in the empty world.  Values in the order of keys.  Returns NULL or what is wrong. */
    const char *(*create)(SceneWorld *world, const double *value);
    /* Before each step: creates this step's contacts.  NULL: collide everything in world->space. */
    void (*contacts)(SceneWorld *world);
    /* After each step; may be NULL. */
    void (*after)(SceneWorld *world);
} Scene;

struct SceneWorld {
    const Scene *scene;
    double value[SCENE_KEY_MAX];
    dWorldID world;
    dSpaceID space;
    dJointGroupID contact_group; /* emptied before each step */
    spragWorldID sprag;          /* NULL under stock ODE */
    spragWorldID judge;          /* of stock ODE's steps, with SPRAG_ANALYSIS_JUDGE; else NULL */
    dSurfaceParameters surface;  /* of contacts made by the default routine */
    int body_count, shape_count;
    dBodyID *body;     /* (body_count) in the order of the trace */
    SceneShape *shape; /* (shape_count) */
    double time;       /* s */
    long step;
    double step_size; /* s, of the step being made */
    double state[16]; /* the scene's own */
    struct SceneTip {
        dJointID joint; /* of this step, or NULL */
        int loaded;     /* it bore load in the last step */
        double mu;
    } tip[SCENE_TIP_MAX];
    int guide_count;
    struct SceneGuide {  /* two-sided contacts of the scene */
        spragGuideID id; /* NULL under stock ODE, which gets two opposed contacts each step */
        spragGuideDef def;
        double point[3], origin[3], normal[3]; /* m, in the frames of body and guide */
    } guide[SCENE_GUIDE_MAX];
    /* The runner's own: */
    SceneSolver solver;
    struct SceneRecord *record; /* contacts of this step under stock ODE, with their joint feedback */
    int body_capacity, shape_capacity;
    const char *fault; /* what went wrong inside create or a step, NULL: nothing, or see spragStatusDetail */
};

/* For scenes: */
dBodyID SceneAddBody(SceneWorld *world);
void SceneAddShape(SceneWorld *world, const SceneShape *shape);
/* The usual solids: body, geom in world->space, shape, mass = density x volume.  Position in m, world frame. */
dBodyID SceneAddBox(SceneWorld *world, const double half[3], const double position[3], double mass,
                    const float color[3]);
dBodyID SceneAddSphere(SceneWorld *world, double radius, const double position[3], double mass, const float color[3]);
/* Solids that are stacked are built into one another by this much, and so much is left to stand (ODE's contact surface
 * layer): every contact is there from the first step, and none comes and goes with the rounding of a touch. */
#define SCENE_OVERLAP 1e-6 /* m */
void SceneSetStacked(SceneWorld *world);
/* The plane z = 0 as a geom of the world, with a shape to draw. */
void SceneAddGround(SceneWorld *world, double half_width);
/* The ground with four walls around it, half_width from its middle and drawn 2 * half_height high. */
void SceneAddPit(SceneWorld *world, double half_width, double half_height);
/* Uniform in 0 .. 1: a linear congruential generator (Knuth's MMIX constants), the same on every machine. */
double SceneDraw(unsigned long long *state);
/* Any way up, though not all alike: the axis is drawn from a cube. */
void SceneDrawRotation(unsigned long long *state, dMatrix3 rotation);
/* Creates a contact through Sprag or through stock ODE, whichever steps this world. */
void SceneAddContact(SceneWorld *world, const dContact *contact, dBodyID body1, dBodyID body2);
void SceneAddContactSurface(SceneWorld *world, const dContact *contact, const spragSurface *surface, dBodyID body1,
                            dBodyID body2);

/* Contact of a point of `body` with the plane z = 0, once it is at or below it.  While it bears load it is kept up to a
 * gap of a step's order, and drawn back as penetration is pushed out: the integrator leaves a sliding point O(h^2) a
 * step off the plane, and a contact that comes and goes would be an impact every other step.  speed: m/s, of the
 * scene's motions under gravity. */
void SceneAddTip(SceneWorld *world, int tip, dBodyID body, const double point[3], const spragSurface *surface,
                 double speed);

/* A two-sided contact, in create(): a guide of Sprag.  Stock ODE has none: there it is a contact from either side at
 * every step, as a program would make it.  1, or 0 with world->fault set. */
int SceneAddGuide(SceneWorld *world, const spragGuideDef *def);

/* All scenes, ends with NULL. */
extern const Scene *const scene_table[];
const Scene *SceneFind(const char *name);

/* Builds a scene under a solver.  error (>= 160 bytes) gets one line where NULL is returned.  values in key order. */
SceneWorld *SceneCreate(const Scene *scene, const double *values, SceneSolver solver, const spragConfig *config,
                        char *error);
/* One step of h: empties the group, makes contacts, steps.
 * SPRAG_OK or what went wrong; SceneDetail says it in words. */
spragStatus SceneStep(SceneWorld *world, double h);
const char *SceneDetail(const SceneWorld *world);
void SceneDestroy(SceneWorld *world);
/* Coefficient of friction of a contact of the last step, on the side that bears load. */
double SceneContactMu(const SceneWorld *world, const spragContact *contact);
/* Contacts of the last step, also under stock ODE (read from joint feedback).  Valid to the next step. */
int SceneGetContacts(SceneWorld *world, const spragContact **contacts);

#endif
