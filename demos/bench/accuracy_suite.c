/* `sprag-bench accuracy`: what stock ODE gets wrong, and Sprag's figure beside it, measured in one run. */
#include "bench/reference_table.h"
#include "bench/suite.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include <sprag/sprag_ode.h>

#include "scenes/scene.h"

/* Three ways to step the same world. */
typedef enum Stepper { ODE_STEP, ODE_QUICK, SPRAG, STEPPER_COUNT } Stepper;

typedef struct Bench {
    dWorldID world;
    dJointGroupID group;
    dBodyID body;
    spragWorldID sprag; /* NULL under stock ODE */
    Stepper stepper;
    dJointFeedback feedback[8];
    int contact_count;
} Bench;

static Bench benchCreate(Stepper stepper, double mass, const double inertia[3], const double gravity[3])
{
    Bench b = {.stepper = stepper};
    dRandSetSeed(1); /* QuickStep orders its rows by a process-wide random sequence */
    b.world = dWorldCreate();
    b.group = dJointGroupCreate(0);
    b.body = dBodyCreate(b.world);
    dMass m;
    dMassSetParameters(&m, mass, 0, 0, 0, inertia[0], inertia[1], inertia[2], 0, 0, 0);
    dBodySetMass(b.body, &m);
    dWorldSetGravity(b.world, gravity[0], gravity[1], gravity[2]);
    if (stepper == SPRAG)
        spragWorldAttach(b.world, NULL, &b.sprag);
    return b;
}

static void benchDestroy(Bench *b)
{
    if (b->sprag != NULL)
        spragWorldDetach(b->sprag);
    dJointGroupDestroy(b->group);
    dWorldDestroy(b->world);
}

static void addContact(Bench *b, const double position[3], const double normal[3], double depth, double mu)
{
    dContact c = {0};
    c.surface.mode = dContactApprox1;
    c.surface.mu = mu;
    for (int i = 0; i < 3; ++i) {
        c.geom.pos[i] = position[i];
        c.geom.normal[i] = normal[i];
    }
    c.geom.depth = depth;
    const dJointID joint = b->sprag != NULL ? spragJointCreateContact(b->sprag, b->group, &c)
                                            : dJointCreateContact(b->world, b->group, &c);
    dJointAttach(joint, b->body, NULL);
    dJointSetFeedback(joint, &b->feedback[b->contact_count++]);
}

static void step(Bench *b, double h)
{
    if (b->stepper == SPRAG)
        spragWorldStep(b->sprag, h);
    else if (b->stepper == ODE_STEP)
        dWorldStep(b->world, h);
    else
        dWorldQuickStep(b->world, h);
}

static void beginStep(Bench *b)
{
    dJointGroupEmpty(b->group);
    b->contact_count = 0;
}

/* Sum of the contact forces on the body, N. */
static void totalForce(const Bench *b, double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = 0;
        for (int k = 0; k < b->contact_count; ++k)
            out[i] += b->feedback[k].f1[i];
    }
}

/* The four lower corners of a cube of edge 1 that stands on z = 0. */
static void boxContacts(Bench *b, double mu)
{
    static const double up[3] = {0, 0, 1};
    const dReal *p = dBodyGetPosition(b->body);
    for (int k = 0; k < 4; ++k) {
        const double corner[3] = {p[0] + (k & 1 ? 0.5 : -0.5), p[1] + (k & 2 ? 0.5 : -0.5), 0};
        addContact(b, corner, up, 0, mu);
    }
}

static Bench boxCreate(Stepper stepper, const double gravity[3])
{
    static const double inertia[3] = {1.0 / 6, 1.0 / 6, 1.0 / 6};
    Bench b = benchCreate(stepper, 1, inertia, gravity);
    dBodySetPosition(b.body, 0, 0, 0.5);
    return b;
}

/* Friction of a box that slides at this heading to the friction axes, over mu N.  Right: 1. */
static double slidingAt(Stepper stepper, double heading)
{
    const double gravity[3] = {0, 0, -9.81};
    Bench b = boxCreate(stepper, gravity);
    dBodySetLinearVel(b.body, 3 * cos(heading), 3 * sin(heading), 0);
    double force[3] = {0};
    for (int k = 0; k < 50; ++k) {
        beginStep(&b);
        boxContacts(&b, 0.5);
        step(&b, 1e-3);
        totalForce(&b, force);
    }
    benchDestroy(&b);
    return hypot(force[0], force[1]) / (0.5 * force[2]);
}

static double slidingAtDiagonal(Stepper stepper)
{
    return slidingAt(stepper, M_PI / 4);
}

/* Largest | friction / (mu N) - 1 | of 72 headings.  Right: 0. */
static double slidingAtAnyHeading(Stepper stepper)
{
    double worst = 0;
    for (int k = 0; k < 72; ++k)
        worst = fmax(worst, fabs(slidingAt(stepper, k * M_PI / 36 + 0.01) - 1));
    return worst;
}

static int holdsOnIncline(Stepper stepper, double ratio)
{
    const double slope = atan(0.5 * ratio), g = 9.81;
    const double gravity[3] = {g * sin(slope) * sqrt(0.5), g * sin(slope) * sqrt(0.5), -g * cos(slope)};
    Bench b = boxCreate(stepper, gravity);
    for (int k = 0; k < 200; ++k) {
        beginStep(&b);
        boxContacts(&b, 0.5);
        step(&b, 1e-3);
    }
    const dReal *v = dBodyGetLinearVel(b.body);
    const int holds = hypot(v[0], v[1]) < 1e-6;
    benchDestroy(&b);
    return holds;
}

/* Largest tan(slope) / mu at which a block, pulled along 45 degrees, holds.  Right: 1. */
static double inclineAtDiagonal(Stepper stepper)
{
    double low = 0.5, high = 2;
    for (int k = 0; k < 20; ++k) {
        const double middle = 0.5 * (low + high);
        if (holdsOnIncline(stepper, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Uniform rod of length 2 and mass 1 that slides on its tip, 60 degrees from the plane, friction pressing it down.
 * Returns |T| / (mu N) of the first step; *slip gets the tip's speed along the plane after it. */
static double rodFriction(Stepper stepper, double mu, double *slip)
{
    const double inertia[3] = {1.0 / 3, 1.0 / 3, 1e-3}, gravity[3] = {0, 0, -9.81}, up[3] = {0, 0, 1};
    const double angle = M_PI / 3, tip[3] = {0, 0, 0};
    Bench b = benchCreate(stepper, 1, inertia, gravity);
    dMatrix3 R;
    dRFromAxisAndAngle(R, 0, 1, 0, M_PI / 2 - angle); /* body axis z along the rod */
    dBodySetRotation(b.body, R);
    dBodySetPosition(b.body, cos(angle), 0, sin(angle));
    dBodySetLinearVel(b.body, -1, 0, 0);
    beginStep(&b);
    addContact(&b, tip, up, 0, mu);
    step(&b, 1e-3);
    double force[3];
    totalForce(&b, force);
    dVector3 v;
    dBodyGetRelPointVel(b.body, 0, 0, -1, v);
    *slip = fabs(v[0]);
    benchDestroy(&b);
    return hypot(force[0], force[1]) / (mu * force[2]);
}

static double rodRegular(Stepper stepper)
{
    double slip;
    return rodFriction(stepper, 0.5, &slip);
}

/* Speed of the tip after one step where sliding is impossible (p < 0, b < 0).  Right: 0. */
static double rodInconsistent(Stepper stepper)
{
    double slip;
    rodFriction(stepper, 2, &slip);
    return slip;
}

/* ---------------------------------------------------------------- two-sided, by the scenes of the viewer */

/* Speed along x of a scene's body after `steps`; key 0 of the scene set to mu. */
static double sceneSpeed(const char *name, Stepper stepper, double mu, int steps)
{
    static const SceneSolver solver[STEPPER_COUNT] = {SCENE_ODE_STEP, SCENE_ODE_QUICK, SCENE_SPRAG};
    const Scene *scene = SceneFind(name);
    double values[SCENE_KEY_MAX], speed = NAN;
    char error[160];
    for (int k = 0; scene->keys[k].name != NULL; ++k)
        values[k] = scene->keys[k].value;
    values[0] = mu;
    dRandSetSeed(1);
    SceneWorld *world = SceneCreate(scene, values, solver[stepper], NULL, error);
    if (world == NULL)
        return NAN;
    int done = 0;
    while (done < steps && SceneStep(world, 1e-3) == SPRAG_OK)
        ++done;
    if (done == steps)
        speed = dBodyGetLinearVel(world->body[0])[0];
    SceneDestroy(world);
    return speed;
}

/* m/s^2, mean over ten steps, of a slider that nothing loads.  Right: 0. */
static double slotDeceleration(Stepper stepper)
{
    return (1 - sceneSpeed("slot", stepper, 0.5, 10)) / 10e-3;
}

/* Least mu at which the drawer, pulled from rest, does not open.  Right: 1. */
static double drawerLocks(Stepper stepper)
{
    double low = 0, high = 2;
    for (int k = 0; k < 20; ++k) {
        const double middle = 0.5 * (low + high);
        if (fabs(sceneSpeed("drawer", stepper, middle, 100)) < 1e-6)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Stock ODE's LCP solver complains on the way; the table counts that instead of showing it. */
static int ode_complaints;

static void onOdeMessage(int number, const char *text, va_list arguments)
{
    (void)number;
    (void)text;
    (void)arguments;
    ++ode_complaints;
}

static int run(int count, char **argument)
{
    static const struct {
        const char *scene, *right;
        double (*measure)(Stepper);
    } row[] = {
        {"box sliding at 45 degrees to the friction axes: friction / (mu N)", "1", slidingAtDiagonal},
        {"box sliding, 72 headings: worst error of friction / (mu N)", "0", slidingAtAnyHeading},
        {"block on an incline along 45 degrees: holds up to tan(slope) / mu", "1", inclineAtDiagonal},
        {"uniform rod sliding on one end, mu 0.5: friction / (mu N)", "1", rodRegular},
        {"the same rod, mu 2 (inconsistent, must jam): slip after one step, m/s", "0", rodInconsistent},
        {"slider in a slot, 1 um overlap, no load: deceleration, m/s^2", "0", slotDeceleration},
        {"drawer pulled at e from its middle, length 2 e: locks at mu", "1", drawerLocks},
    };
    if (count > 0) {
        fprintf(stderr, "sprag-bench accuracy: unexpected argument '%s'\n", argument[0]);
        return 2;
    }
    dInitODE2(0);
    dSetMessageHandler(onOdeMessage);
    printf("| scene | right | dWorldStep | dWorldQuickStep | Sprag |\n|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
        printf("| %s | %s |", row[k].scene, row[k].right);
        for (int s = 0; s < STEPPER_COUNT; ++s)
            printf(" %.4g |", row[k].measure((Stepper)s));
        printf("\n");
        fflush(stdout);
    }
    benchReferenceTable();
    printf("\nStock ODE reported %d internal errors of its LCP solver on the way.\n", ode_complaints);
    dCloseODE();
    return 0;
}

const BenchSuite bench_accuracy = {"accuracy", "scenes with a known answer: stock ODE and Sprag beside it", run};
