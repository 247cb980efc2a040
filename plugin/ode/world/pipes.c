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

/* The pipes of a space and of all that lie within; none if there are too many geoms.  0: no memory. */
static int list(spragPipes *pipes, dSpaceID space)
{
    Search search;
    search.geoms = search.found = 0;
    pipes->space = NULL;
    if (!goThrough(space, &search))
        search.found = 0;
    if (!spragPointerMapMake(&pipes->map, pipes->arena, search.found))
        return 0;
    for (int i = 0; i < search.found; ++i)
        spragPointerMapPut(&pipes->map, search.pipe[i], kindOf(search.pipe[i]));
    pipes->space = space;
    return 1;
}

void spragPipesBegin(spragPipes *pipes, spragArena *arena, long step)
{
    pipes->arena = arena;
    pipes->space = NULL;
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
    return top != NULL && geom != NULL && (pipes->space == top || list(pipes, top)) &&
           spragPointerMapGet(&pipes->map, geom) == FIELD;
}

int spragPipesFind(spragPipes *pipes, dGeomID alive, dGeomID geom)
{
    const dSpaceID top = topOf(alive);
    if (top == NULL || geom == NULL)
        return 0;
    const spragPlaced one = {geom, top};
    if (otherOf(pipes, one)->geom != NULL || (pipes->space != top && !list(pipes, top)))
        return 0;
    const int kind = spragPointerMapGet(&pipes->map, geom);
    if (kind != PIPE && kind != BOX)
        note(pipes, one);
    return kind == PIPE || (kind == BOX && dGeomGetClass(alive) == dConvexClass);
}
