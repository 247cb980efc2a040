/* The scene runner: builds a scene under Sprag or stock ODE, steps it, reads contacts back. */
#include "scenes/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/record.h"

/* ---------------------------------------------------------------- for scenes */

dBodyID SceneAddBody(SceneWorld *world)
{
    if (world->body_count == world->body_capacity) {
        const int capacity = 2 * world->body_capacity + 16;
        dBodyID *body = realloc(world->body, (size_t)capacity * sizeof *body);
        if (body == NULL) {
            world->fault = "out of memory";
            return dBodyCreate(world->world); /* the caller may fill it; SceneCreate gives up */
        }
        world->body = body;
        world->body_capacity = capacity;
    }
    const dBodyID body = dBodyCreate(world->world);
    world->body[world->body_count++] = body;
    return body;
}

void SceneAddShape(SceneWorld *world, const SceneShape *shape)
{
    if (world->shape_count == world->shape_capacity) {
        const int capacity = 2 * world->shape_capacity + 16;
        SceneShape *grown = realloc(world->shape, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            world->fault = "out of memory";
            return;
        }
        world->shape = grown;
        world->shape_capacity = capacity;
    }
    SceneShape *added = &world->shape[world->shape_count++];
    *added = *shape;
    if (shape->rotation[0] == 0 && shape->rotation[3] == 0 && shape->rotation[6] == 0)
        added->rotation[0] = added->rotation[4] = added->rotation[8] = 1;
}

static void addSolid(SceneWorld *world, dBodyID body, dGeomID geom, SceneShapeKind kind, const double size[3],
                     const double position[3], const float color[3])
{
    dGeomSetBody(geom, body);
    dBodySetPosition(body, position[0], position[1], position[2]);
    SceneShape shape = {.kind = kind, .body = body};
    memcpy(shape.size, size, sizeof shape.size);
    memcpy(shape.color, color, sizeof shape.color);
    SceneAddShape(world, &shape);
}

dBodyID SceneAddBox(SceneWorld *world, const double half[3], const double position[3], double mass,
                    const float color[3])
{
    const dBodyID body = SceneAddBody(world);
    dMass inertia;
    dMassSetBoxTotal(&inertia, mass, 2 * half[0], 2 * half[1], 2 * half[2]);
    dBodySetMass(body, &inertia);
    addSolid(world, body, dCreateBox(world->space, 2 * half[0], 2 * half[1], 2 * half[2]), SCENE_BOX, half, position,
             color);
    return body;
}

dBodyID SceneAddSphere(SceneWorld *world, double radius, const double position[3], double mass, const float color[3])
{
    const dBodyID body = SceneAddBody(world);
    dMass inertia;
    dMassSetSphereTotal(&inertia, mass, radius);
    dBodySetMass(body, &inertia);
    addSolid(world, body, dCreateSphere(world->space, radius), SCENE_SPHERE, (double[3]){radius, radius, radius},
             position, color);
    return body;
}

void SceneSetStacked(SceneWorld *world)
{
    dWorldSetContactSurfaceLayer(world->world, SCENE_OVERLAP);
}

void SceneAddGround(SceneWorld *world, double half_width)
{
    dCreatePlane(world->space, 0, 0, 1, 0);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                       .position = {0, 0, -0.05},
                                       .size = {half_width, half_width, 0.05},
                                       .color = {0.55f, 0.57f, 0.60f}});
}

/* It stands at (x, y), its normal points inwards. */
static void addWall(SceneWorld *world, double x, double y, double half_width, double half_height)
{
    const double n = hypot(x, y), thick = 0.02 * half_width;
    dCreatePlane(world->space, -x / n, -y / n, 0, -n);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                       .position = {x * (1 + thick / n), y * (1 + thick / n), half_height},
                                       .size = {x != 0 ? thick : half_width, y != 0 ? thick : half_width, half_height},
                                       .color = {0.5f, 0.5f, 0.55f}});
}

void SceneAddPit(SceneWorld *world, double half_width, double half_height)
{
    SceneAddGround(world, 1.5 * half_width);
    for (int k = 0; k < 4; ++k) {
        const double at = k % 2 == 0 ? half_width : -half_width;
        addWall(world, k < 2 ? at : 0, k < 2 ? 0 : at, half_width, half_height);
    }
}

double SceneDraw(unsigned long long *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*state >> 11) * 0x1p-53;
}

void SceneDrawRotation(unsigned long long *state, dMatrix3 rotation)
{
    const double x = SceneDraw(state) - 0.5, y = SceneDraw(state) - 0.5, z = SceneDraw(state) - 0.5;
    dRFromAxisAndAngle(rotation, x, y, z, 2 * M_PI * SceneDraw(state));
}

static dJointID addContact(SceneWorld *world, const dContact *contact, const spragSurface *surface, dBodyID body1,
                           dBodyID body2)
{
    dJointID joint;
    if (world->sprag == NULL)
        joint = dJointCreateContact(world->world, world->contact_group, contact);
    else if (surface == NULL)
        joint = spragJointCreateContact(world->sprag, world->contact_group, contact);
    else
        joint = spragJointCreateContactSurface(world->sprag, world->contact_group, contact, surface);
    if (joint == NULL)
        return NULL; /* Sprag refused it: spragStatusDetail says why, the step goes on without */
    dJointAttach(joint, body1, body2);
    if (world->sprag == NULL)
        SceneRecordAdd(world->record, joint, contact, body1, body2);
    return joint;
}

void SceneAddContact(SceneWorld *world, const dContact *contact, dBodyID body1, dBodyID body2)
{
    addContact(world, contact, NULL, body1, body2);
}

void SceneAddContactSurface(SceneWorld *world, const dContact *contact, const spragSurface *surface, dBodyID body1,
                            dBodyID body2)
{
    addContact(world, contact, surface, body1, body2);
}

void SceneAddTip(SceneWorld *world, int tip, dBodyID body, const double point[3], const spragSurface *surface,
                 double speed)
{
    static const double rounding = 1e-12; /* m */
    const double gap = point[2], h = world->step_size;
    const int rigid = surface == NULL || surface->stiffness == 0; /* an elastic surface lets go at gap 0 */
    if (gap > (rigid && world->tip[tip].loaded ? h * speed : rounding))
        return;
    dContact contact = {.surface = world->surface};
    for (int i = 0; i < 3; ++i)
        contact.geom.pos[i] = point[i];
    contact.geom.normal[2] = 1;
    contact.geom.depth = -gap;
    if (gap > 0) {
        contact.surface.mode |= dContactMotionN;
        contact.surface.motionN = -dWorldGetERP(world->world) * gap / h;
    }
    world->tip[tip].joint = addContact(world, &contact, surface, body, NULL);
    world->tip[tip].mu = contact.surface.mu;
}

static void rememberTips(SceneWorld *world)
{
    const spragContact *contacts = NULL;
    const int count = world->scene->contacts != NULL ? SceneGetContacts(world, &contacts) : 0;
    for (int tip = 0; tip < SCENE_TIP_MAX; ++tip) {
        world->tip[tip].loaded = 0;
        for (int k = 0; k < count && world->tip[tip].joint != NULL; ++k)
            if (contacts[k].joint == world->tip[tip].joint)
                world->tip[tip].loaded = contacts[k].normal_force > 0;
    }
}

/* ---------------------------------------------------------------- two-sided contacts */

int SceneAddGuide(SceneWorld *world, const spragGuideDef *def)
{
    if (world->guide_count == SCENE_GUIDE_MAX) {
        world->fault = "too many guides";
        return 0;
    }
    struct SceneGuide *guide = &world->guide[world->guide_count];
    *guide = (struct SceneGuide){.def = *def};
    if (world->sprag != NULL && spragGuideCreate(world->sprag, def, &guide->id) != SPRAG_OK) {
        world->fault = spragStatusDetail();
        return 0;
    }
    dVector3 point, origin, normal;
    dBodyGetPosRelPoint(def->body, def->point[0], def->point[1], def->point[2], point);
    for (int i = 0; i < 3; ++i)
        origin[i] = def->point[i], normal[i] = def->normal[i];
    if (def->guide != NULL) {
        dBodyGetPosRelPoint(def->guide, def->point[0], def->point[1], def->point[2], origin);
        dBodyVectorFromWorld(def->guide, def->normal[0], def->normal[1], def->normal[2], normal);
    }
    for (int i = 0; i < 3; ++i)
        guide->point[i] = point[i], guide->origin[i] = origin[i], guide->normal[i] = normal[i];
    ++world->guide_count;
    return 1;
}

/* m, of a contact from the guided point; INFINITY: another body's. */
static double guideDistance(const struct SceneGuide *guide, const spragContact *contact)
{
    dVector3 point;
    double sum = 0;
    if (guide->def.body != contact->body[0] || guide->def.guide != contact->body[1])
        return INFINITY;
    dBodyGetRelPointPos(guide->def.body, guide->point[0], guide->point[1], guide->point[2], point);
    for (int i = 0; i < 3; ++i)
        sum += (point[i] - contact->position[i]) * (point[i] - contact->position[i]);
    return sqrt(sum); /* the point has moved by a step since */
}

double SceneContactMu(const SceneWorld *world, const spragContact *contact)
{
    for (int tip = 0; tip < SCENE_TIP_MAX; ++tip)
        if (world->tip[tip].joint != NULL && world->tip[tip].joint == contact->joint)
            return world->tip[tip].mu;
    const struct SceneGuide *nearest = NULL;
    double least = INFINITY;
    for (int k = 0; k < world->guide_count; ++k)
        if (guideDistance(&world->guide[k], contact) < least) {
            least = guideDistance(&world->guide[k], contact);
            nearest = &world->guide[k];
        }
    if (nearest == NULL || (world->sprag != NULL && contact->joint != NULL))
        return world->surface.mu;
    if (contact->variant != 0)
        return nearest->def.mu[contact->variant < 0];
    const double *n = nearest->normal, *m = contact->normal; /* stock ODE: a contact from either side */
    return nearest->def.mu[nearest->def.guide == NULL && n[0] * m[0] + n[1] * m[1] + n[2] * m[2] < 0];
}

/* Under stock ODE: the point between two surfaces half the clearance away. */
static void pinch(SceneWorld *world, const struct SceneGuide *guide)
{
    const spragGuideDef *def = &guide->def;
    const double *p = guide->point, *o = guide->origin, *n = guide->normal;
    dVector3 point, origin = {o[0], o[1], o[2]}, normal = {n[0], n[1], n[2]};
    dBodyGetRelPointPos(def->body, p[0], p[1], p[2], point);
    if (def->guide != NULL) {
        dBodyGetRelPointPos(def->guide, o[0], o[1], o[2], origin);
        dBodyVectorToWorld(def->guide, n[0], n[1], n[2], normal);
    }
    double g = 0;
    for (int i = 0; i < 3; ++i)
        g += normal[i] * (point[i] - origin[i]);
    for (int side = 1; side >= -1; side -= 2) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = def->mu[side < 0]}};
        contact.geom.depth = -side * g - 0.5 * def->clearance;
        for (int i = 0; i < 3; ++i)
            contact.geom.pos[i] = point[i], contact.geom.normal[i] = side * normal[i];
        if (contact.geom.depth > -1e-9)
            addContact(world, &contact, NULL, def->body, def->guide);
    }
}

/* ---------------------------------------------------------------- collision of everything with everything */

enum { PAIR_CONTACT_MAX = 8 };

static void nearCallback(void *data, dGeomID geom1, dGeomID geom2)
{
    SceneWorld *world = data;
    const dBodyID body1 = dGeomGetBody(geom1), body2 = dGeomGetBody(geom2);
    if ((body1 == NULL && body2 == NULL) || body1 == body2)
        return;
    if (body1 != NULL && body2 != NULL && dAreConnectedExcluding(body1, body2, dJointTypeContact))
        return;
    dContact contact[PAIR_CONTACT_MAX];
    const int count = dCollide(geom1, geom2, PAIR_CONTACT_MAX, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        contact[i].surface = world->surface;
        SceneAddContact(world, &contact[i], body1, body2);
    }
}

/* ---------------------------------------------------------------- life of a scene */

const Scene *SceneFind(const char *name)
{
    for (const Scene *const *scene = scene_table; *scene != NULL; ++scene)
        if (strcmp((*scene)->name, name) == 0)
            return *scene;
    return NULL;
}

int SceneKeyFits(const SceneKey *key, double value, char why[SCENE_ERROR_SIZE])
{
    const int whole = strcmp(key->unit, SCENE_WHOLE) == 0;
    const int fits = value >= key->min && value <= key->max && (!whole || value == floor(value));
    if (!fits && whole)
        snprintf(why, SCENE_ERROR_SIZE, "%s must be a whole number from %g to %g", key->name, key->min, key->max);
    else if (!fits)
        snprintf(why, SCENE_ERROR_SIZE, "%s must be from %g to %g%s%s", key->name, key->min, key->max,
                 key->unit[0] != '\0' ? " " : "", key->unit);
    return fits;
}

/* 1: every value is in its range; else error says which is not. */
static int valuesFit(const Scene *scene, const double *values, double *copy, char *error)
{
    int i = 0;
    for (; scene->keys[i].name != NULL && i < SCENE_KEY_MAX; ++i) {
        const SceneKey *key = &scene->keys[i];
        copy[i] = values != NULL ? values[i] : key->value;
        if (!SceneKeyFits(key, copy[i], error))
            return 0;
    }
    return 1;
}

static int worldOpen(SceneWorld *world, const spragConfig *config, char *error)
{
    dInitODE2(0);
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    world->world = dWorldCreate();
    world->space = dHashSpaceCreate(NULL);
    world->contact_group = dJointGroupCreate(0);
    dWorldSetGravity(world->world, 0, 0, -9.81);
    world->surface.mode = dContactApprox1;
    world->surface.mu = 0.5;
    const int stock = world->solver != SCENE_SPRAG;
    spragConfig own = config != NULL ? *config : spragConfigDefault();
    if (stock) {
        world->record = SceneRecordCreate();
        if (world->record == NULL)
            snprintf(error, SCENE_ERROR_SIZE, "%s: out of memory", world->scene->name);
        if (world->record == NULL || own.analysis != SPRAG_ANALYSIS_JUDGE)
            return world->record != NULL;
        own.solver = SPRAG_SOLVER_STOCK;
        own.stepper = world->solver == SCENE_ODE_QUICK ? SPRAG_STEPPER_QUICKSTEP : SPRAG_STEPPER_STEP;
        own.gyroscopic = SPRAG_GYROSCOPIC_ODE;
    }
    if (spragWorldAttach(world->world, &own, stock ? &world->judge : &world->sprag) == SPRAG_OK)
        return 1;
    snprintf(error, SCENE_ERROR_SIZE, "%s: %s", world->scene->name, spragStatusDetail());
    return 0;
}

SceneWorld *SceneCreate(const Scene *scene, const double *values, SceneSolver solver, const spragConfig *config,
                        char *error)
{
    SceneWorld *world = calloc(1, sizeof *world);
    if (world == NULL) {
        snprintf(error, SCENE_ERROR_SIZE, "%s: out of memory", scene->name);
        return NULL;
    }
    world->scene = scene;
    world->solver = solver;
    world->step_size = scene->step_size;
    if (!valuesFit(scene, values, world->value, error) || !worldOpen(world, config, error)) {
        SceneDestroy(world);
        return NULL;
    }
    const char *wrong = scene->create(world, world->value);
    if (wrong == NULL)
        wrong = world->fault;
    if (wrong != NULL) {
        snprintf(error, SCENE_ERROR_SIZE, "%s: %s", scene->name, wrong);
        SceneDestroy(world);
        return NULL;
    }
    return world;
}

/* ODE's collision spaces abort on coordinates that do not fit an int of their cells. */
static int isInReach(const SceneWorld *world)
{
    static const double reach = 1e6; /* m */
    for (int i = 0; i < world->body_count; ++i) {
        const dReal *x = dBodyGetPosition(world->body[i]);
        if (!(fabs(x[0]) < reach && fabs(x[1]) < reach && fabs(x[2]) < reach))
            return 0;
    }
    return 1;
}

const char *SceneDetail(const SceneWorld *world)
{
    return world->fault != NULL ? world->fault : spragStatusDetail();
}

static spragStatus step(SceneWorld *world, double h)
{
    if (world->sprag != NULL || world->judge != NULL)
        return spragWorldStep(world->sprag != NULL ? world->sprag : world->judge, h);
    if (world->solver == SCENE_ODE_QUICK ? dWorldQuickStep(world->world, h) : dWorldStep(world->world, h))
        return SPRAG_OK;
    world->fault = "ODE had no memory for its step";
    return SPRAG_ERROR_MEMORY;
}

spragStatus SceneStep(SceneWorld *world, double h)
{
    world->fault = NULL;
    if (!(h > 0 && h <= 1e6)) {
        world->fault = "the step size is not in 0 ... 1e6 s";
        return SPRAG_ERROR_RANGE;
    }
    if (!isInReach(world)) {
        world->fault = "a body is more than 1e6 m away: the motion has blown up; try a smaller step";
        return SPRAG_ERROR_RANGE;
    }
    world->step_size = h;
    for (int tip = 0; tip < SCENE_TIP_MAX; ++tip)
        world->tip[tip].joint = NULL;
    dJointGroupEmpty(world->contact_group);
    if (world->record != NULL)
        SceneRecordClear(world->record);
    if (world->scene->contacts != NULL)
        world->scene->contacts(world);
    else
        dSpaceCollide(world->space, world, nearCallback);
    for (int k = 0; k < world->guide_count && world->sprag == NULL; ++k)
        pinch(world, &world->guide[k]);

    const spragStatus status = step(world, h);
    if (status != SPRAG_OK)
        return status;
    if (world->record != NULL)
        SceneRecordRead(world->record);
    world->step += 1;
    world->time += h;
    rememberTips(world);
    if (world->scene->after != NULL)
        world->scene->after(world);
    return SPRAG_OK;
}

void SceneDestroy(SceneWorld *world)
{
    if (world == NULL)
        return;
    if (world->sprag != NULL)
        spragWorldDetach(world->sprag);
    if (world->judge != NULL)
        spragWorldDetach(world->judge);
    if (world->contact_group != NULL)
        dJointGroupDestroy(world->contact_group);
    if (world->space != NULL)
        dSpaceDestroy(world->space);
    if (world->world != NULL)
        dWorldDestroy(world->world);
    SceneRecordDestroy(world->record);
    free(world->body);
    free(world->shape);
    free(world);
}

int SceneGetContacts(SceneWorld *world, const spragContact **contacts)
{
    if (world->sprag != NULL)
        return spragWorldGetContacts(world->sprag, contacts);
    return SceneRecordGet(world->record, contacts);
}
