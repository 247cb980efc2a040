#include "ode/world/statics.h"

#include <string.h>

enum { SHAPE = 1, BOX = 2, FIELD = 3 };

/* 0: none of these, or a body's.  (A box is one for hulls alone.) */
static int kindOf(dGeomID geom)
{
    const int class = dGeomGetClass(geom);
    if (dGeomGetBody(geom) != NULL)
        return 0;
    if (class == dBoxClass || class == dHeightfieldClass)
        return class == dBoxClass ? BOX : FIELD;
    return class == dCapsuleClass || class == dCylinderClass || class == dConvexClass ? SHAPE : 0;
}

/* 1: ODE tells what it holds.  (Asked for a geom of a quadtree, it ends the process.) */
static int isOpen(dSpaceID space)
{
    const int class = dSpaceGetClass(space);
    return class == dSimpleSpaceClass || class == dHashSpaceClass || class == dSweepAndPruneSpaceClass;
}

/* What has been gone through, and found. */
typedef struct Search {
    int geoms, found;
    dGeomID shape[SPRAG_STATICS_AMONG];
} Search;

/* 0: there are too many geoms. */
static int goThrough(dSpaceID space, Search *search)
{
    const int count = dSpaceGetNumGeoms(space);
    search->geoms += count;
    for (int i = 0; i < count && search->geoms <= SPRAG_STATICS_AMONG; ++i) {
        const dGeomID geom = dSpaceGetGeom(space, i); /* in order, which costs no search */
        if (dGeomIsSpace(geom)) {
            if (isOpen((dSpaceID)geom))
                goThrough((dSpaceID)geom, search);
        } else if (kindOf(geom))
            search->shape[search->found++] = geom;
    }
    return search->geoms <= SPRAG_STATICS_AMONG;
}

/* The statics of a space and of all that lie within; none if there are too many geoms.  NULL: no memory. */
static const spragPointerMap *list(spragStatics *statics, dSpaceID space)
{
    Search search;
    search.geoms = search.found = 0;
    for (int k = 0; k < SPRAG_STATICS_TOPS; ++k)
        if (statics->space[k] == space)
            return &statics->map[k];
    spragPointerMap *map = &statics->map[statics->next];
    statics->space[statics->next] = NULL;
    if (!goThrough(space, &search))
        search.found = 0;
    if (!spragPointerMapMake(map, statics->arena, search.found))
        return NULL;
    for (int i = 0; i < search.found; ++i)
        spragPointerMapPut(map, search.shape[i], kindOf(search.shape[i]));
    statics->space[statics->next] = space;
    statics->next = (statics->next + 1) % SPRAG_STATICS_TOPS;
    return map;
}

void spragStaticsBegin(spragStatics *statics, spragArena *arena, long step)
{
    statics->arena = arena;
    statics->next = 0;
    memset(statics->space, 0, sizeof statics->space);
    if (step % SPRAG_STATICS_STEPS == 0) {
        memset(statics->other, 0, sizeof statics->other);
        statics->others = 0;
    }
}

/* Where it is, or belongs.  (Room for twice as many, so that none drives another out: which, the addresses would tell,
 * and these differ from run to run.) */
static spragPlaced *otherOf(spragStatics *statics, spragPlaced one)
{
    size_t at = ((uint64_t)(uintptr_t)one.geom * SPRAG_GOLDEN) >> 32;
    spragPlaced *other;
    while ((other = &statics->other[at % (2 * SPRAG_STATICS_OTHERS)])->geom != NULL &&
           (other->geom != one.geom || other->top != one.top))
        ++at;
    return other;
}

static void note(spragStatics *statics, spragPlaced one)
{
    if (statics->others == SPRAG_STATICS_OTHERS)
        return;
    spragGoneKnow(one.geom);
    spragGoneKnow(one.top);
    *otherOf(statics, one) = one;
    ++statics->others;
}

void spragStaticsForget(spragStatics *statics, const spragGone *gone)
{
    spragPlaced kept[SPRAG_STATICS_OTHERS];
    int count = 0;
    for (int i = 0; i < 2 * SPRAG_STATICS_OTHERS; ++i) {
        const spragPlaced one = statics->other[i];
        if (one.geom != NULL && !spragIsGone(gone, one.geom) && !spragIsGone(gone, one.top))
            kept[count++] = one;
    }
    memset(statics->other, 0, sizeof statics->other);
    statics->others = 0;
    for (int i = 0; i < count; ++i)
        note(statics, kept[i]);
}

/* The outermost open space about it, or NULL. */
static dSpaceID topOf(dGeomID alive)
{
    dSpaceID top = dGeomGetSpace(alive);
    if (top == NULL || !isOpen(top))
        return NULL;
    for (dSpaceID about = dGeomGetSpace((dGeomID)top); about != NULL && isOpen(about);
         about = dGeomGetSpace((dGeomID)top))
        top = about;
    return top;
}

int spragStaticsIsField(spragStatics *statics, dGeomID alive, dGeomID geom)
{
    const dSpaceID top = topOf(alive);
    const spragPointerMap *map = top == NULL || geom == NULL ? NULL : list(statics, top);
    return map != NULL && spragPointerMapGet(map, geom) == FIELD;
}

int spragStaticsFind(spragStatics *statics, dGeomID alive, dGeomID geom)
{
    const dSpaceID top = topOf(alive);
    if (top == NULL || geom == NULL)
        return 0;
    const spragPlaced one = {geom, top};
    const spragPointerMap *map = otherOf(statics, one)->geom != NULL ? NULL : list(statics, top);
    if (map == NULL)
        return 0;
    const int kind = spragPointerMapGet(map, geom);
    if (kind != SHAPE && kind != BOX)
        note(statics, one);
    return kind == SHAPE || (kind == BOX && dGeomGetClass(alive) == dConvexClass);
}
