/* `sprag-bench mjcf`: a scene of bodies without joints as a MuJoCo model, at the moment it begins, for mujoco.mjs
 * beside this file.  Masses, shapes, places, velocities and friction are the scene's, all else is MuJoCo's default. */
#include <stdio.h>
#include <string.h>

#include "bench/settle.h"
#include "bench/solids.h"
#include "bench/suite.h"

static void printNumbers(const char *name, int count, const double *x)
{
    printf(" %s=\"", name);
    for (int i = 0; i < count; ++i)
        printf("%s%.17g", i == 0 ? "" : " ", x[i]);
    printf("\"");
}

static void printGeom(const Solid *solid, double mu)
{
    static const char *const type[] = {"box", "sphere", "capsule", "cylinder", "plane"};
    static const int sizes[] = {3, 1, 2, 2, 3};
    const double endless[3] = {0, 0, 1};
    printf("<geom type=\"%s\"", type[solid->kind]);
    printNumbers("size", sizes[solid->kind], solid->kind == SOLID_PLANE ? endless : solid->size);
    if (solid->kind == SOLID_PLANE) {
        const double d = solid->size[3], foot[3] = {d * solid->size[0], d * solid->size[1], d * solid->size[2]};
        printNumbers("zaxis", 3, solid->size);
        printNumbers("pos", 3, foot);
    } else if (solid->mass == 0) {
        printNumbers("pos", 3, solid->position);
        printNumbers("quat", 4, solid->quaternion);
    }
    printf(" friction=\"%.17g 0 0\"/>\n", mu);
}

static void printBody(const Solid *solid, double mu)
{
    printf("<body><freejoint/><inertial pos=\"0 0 0\" mass=\"%.17g\"", solid->mass);
    printNumbers("diaginertia", 3, solid->inertia);
    printf("/>\n");
    printGeom(solid, mu);
    printf("</body>\n");
}

/* MuJoCo counts the angular velocity of a free body in its own frame: R^T w. */
static void printVelocity(const Solid *solid)
{
    dMatrix3 R;
    const dQuaternion q = {solid->quaternion[0], solid->quaternion[1], solid->quaternion[2], solid->quaternion[3]};
    const dVector3 w = {solid->velocity[3], solid->velocity[4], solid->velocity[5], 0};
    dVector3 own;
    dRfromQ(R, q);
    dMultiply1_331(own, R, w);
    printf("%.17g %.17g %.17g %.17g %.17g %.17g\n", solid->velocity[0], solid->velocity[1], solid->velocity[2], own[0],
           own[1], own[2]);
}

static void printModel(const Solids *solids)
{
    const Solid *const body = solids->solid + solids->fixed, *const end = solids->solid + solids->count;
    printf("<mujoco>\n<option");
    printNumbers("gravity", 3, solids->gravity);
    printf("/>\n<worldbody>\n");
    for (const Solid *s = solids->solid; s < body; ++s)
        printGeom(s, solids->mu);
    for (const Solid *s = body; s < end; ++s)
        printBody(s, solids->mu);
    printf("</worldbody>\n<keyframe><key qpos=\"");
    for (const Solid *s = body; s < end; ++s)
        printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", s->position[0], s->position[1], s->position[2],
               s->quaternion[0], s->quaternion[1], s->quaternion[2], s->quaternion[3]);
    printf("\" qvel=\"");
    for (const Solid *s = body; s < end; ++s)
        printVelocity(s);
    printf("\"/></keyframe>\n</mujoco>\n");
}

static int printScene(const char *scene, const char *set)
{
    Solids solids = {0};
    SceneWorld *world = worldSettle(&(WorldPlan){.scene = scene, .set = set});
    if (world == NULL)
        return 2;
    const char *why = solidsTake(&solids, world);
    if (why != NULL)
        fprintf(stderr, "sprag-bench mjcf: MuJoCo cannot know '%s': %s\n", scene, why);
    else
        printModel(&solids);
    solidsFree(&solids);
    SceneDestroy(world);
    return why == NULL ? 0 : 2;
}

static int run(int count, char **argument)
{
    enum { SET_MOST = 256 };
    char set[SET_MOST] = "";
    if (count == 0 || SceneFind(argument[0]) == NULL) {
        fprintf(stderr, "sprag-bench mjcf: no scene '%s'; sprag-view --list shows all scenes\n",
                count == 0 ? "" : argument[0]);
        return 2;
    }
    for (int i = 1; i < count; ++i) {
        if (strchr(argument[i], '=') == NULL || strlen(set) + strlen(argument[i]) + 2 > sizeof set) {
            fprintf(stderr, "sprag-bench mjcf: expected KEY=VALUE, not '%s'\n", argument[i]);
            return 2;
        }
        strcat(strcat(set, argument[i]), " ");
    }
    dInitODE2(0);
    const int status = printScene(argument[0], set);
    dCloseODE();
    return status;
}

const BenchSuite bench_mjcf = {"mjcf", "SCENE [KEY=VALUE...]: the scene as a MuJoCo model, on stdout", run};
