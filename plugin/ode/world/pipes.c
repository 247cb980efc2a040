#include "ode/world/pipes.h"

#include <string.h>

enum { PIPE = 1, BOX = 2, FIELD = 3 };

/* 0: none of these, or a body's.  (A box is a pipe for hulls alone.) */
static int kindOf(dGeomID geom)
{
    const int class = dGeomGetClass(geom);
    if (dGeomGetBody(geom) != NULL)
        return 0;
    if (class == dBoxClass || class == dHeightfieldClass)
        return class == dBoxClass ? BOX : FIELD;
    return class == dCapsuleClass || class == dCylinderClass || class == dConvexClass ? PIPE : 0;
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
    dGeomID pipe[SPRAG_PIPES_AMONG];
} Search;

/* 0: there are too many geoms. */
static int goThrough(dSpaceID space, Search *search)
{
    const int count = dSpaceGetNumGeoms(space);
    search->geoms += count;
    for (int i = 0; i < count && search->geoms <= SPRAG_PIPES_AMONG; ++i) {
        const dGeomID geom = dSpaceGetGeom(space, i); /* in order, which costs no search */
        if (dGeomIsSpace(geom)) {
            if (isOpen((dSpaceID)geom))
                goThrough((dSpaceID)geom, search);
        } else if (kindOf(geom))
            search->pipe[search->found++] = geom;
    }
    return search->geoms <= SPRAG_PIPES_AMONG;
}

/* The pipes of a space and of all that lie within; none if there are too many geoms.  NULL: no memory. */
static const spragPointerMap *list(spragPipes *pipes, dSpaceID space)
{
    Search search;
    search.geoms = search.found = 0;
    for (int k = 0; k < SPRAG_PIPES_TOPS; ++k)
        if (pipes->space[k] == space)
            return &pipes->map[k];
    spragPointerMap *map = &pipes->map[pipes->next];
    pipes->space[pipes->next] = NULL;
    if (!goThrough(space, &search))
        search.found = 0;
    if (!spragPointerMapMake(map, pipes->arena, search.found))
        return NULL;
    for (int i = 0; i < search.found; ++i)
        spragPointerMapPut(map, search.pipe[i], kindOf(search.pipe[i]));
    pipes->space[pipes->next] = space;
    pipes->next = (pipes->next + 1) % SPRAG_PIPES_TOPS;
    return map;
}

void spragPipesBegin(spragPipes *pipes, spragArena *arena, long step)
{
    pipes->arena = arena;
    pipes->next = 0;
    memset(pipes->space, 0, sizeof pipes->space);
    if (step % SPRAG_PIPES_STEPS == 0) {
        memset(pipes->other, 0, sizeof pipes->other);
        pipes->others = 0;
    }
}

/* Where it is, or belongs.  (Room for twice as many, so that none drives another out: which, the addresses would tell,
 * and these differ from run to run.) */
static spragPlaced *otherOf(spragPipes *pipes, spragPlaced one)
{
    size_t at = ((uint64_t)(uintptr_t)one.geom * SPRAG_GOLDEN) >> 32;
    spragPlaced *other;
    while ((other = &pipes->other[at % (2 * SPRAG_PIPES_OTHERS)])->geom != NULL &&
           (other->geom != one.geom || other->top != one.top))
        ++at;
    return other;
}

static void note(spragPipes *pipes, spragPlaced one)
{
    if (pipes->others == SPRAG_PIPES_OTHERS)
        return;
    spragGoneKnow(one.geom);
    spragGoneKnow(one.top);
    *otherOf(pipes, one) = one;
    ++pipes->others;
}

void spragPipesForget(spragPipes *pipes, const spragGone *gone)
{
    spragPlaced kept[SPRAG_PIPES_OTHERS];
    int count = 0;
    for (int i = 0; i < 2 * SPRAG_PIPES_OTHERS; ++i) {
        const spragPlaced one = pipes->other[i];
        if (one.geom != NULL && !spragIsGone(gone, one.geom) && !spragIsGone(gone, one.top))
            kept[count++] = one;
    }
    memset(pipes->other, 0, sizeof pipes->other);
    pipes->others = 0;
    for (int i = 0; i < count; ++i)
        note(pipes, kept[i]);
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

int spragPipesIsField(spragPipes *pipes, dGeomID alive, dGeomID geom)
{
    const dSpaceID top = topOf(alive);
    const spragPointerMap *map = top == NULL || geom == NULL ? NULL : list(pipes, top);
    return map != NULL && spragPointerMapGet(map, geom) == FIELD;
}

int spragPipesFind(spragPipes *pipes, dGeomID alive, dGeomID geom)
{
    const dSpaceID top = topOf(alive);
    if (top == NULL || geom == NULL)
        return 0;
    const spragPlaced one = {geom, top};
    const spragPointerMap *map = otherOf(pipes, one)->geom != NULL ? NULL : list(pipes, top);
    if (map == NULL)
        return 0;
    const int kind = spragPointerMapGet(map, geom);
    if (kind != PIPE && kind != BOX)
        note(pipes, one);
    return kind == PIPE || (kind == BOX && dGeomGetClass(alive) == dConvexClass);
}
