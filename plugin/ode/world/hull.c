#include "ode/world/hull.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* So much is searched: a hull holds that in any 0.16 build, with its counts, one of dReal = float no more. */
enum { HULL_BYTES = 16 * sizeof(void *) + 6 * sizeof(dReal) + 4 * sizeof(int) };

static struct {
    size_t planes, points, plane_count, point_count; /* bytes */
    int known;
} layout;

/* A wedge and a block: all of their counts differ. */
enum { WEDGE_PLANES = 5, WEDGE_POINTS = 6, BLOCK_PLANES = 6, BLOCK_POINTS = 8 };

static const dReal wedge_planes[4 * WEDGE_PLANES] = {0, 0, -1, 1, 0, 0, 1, 1, -1, 0, 0, 1, 0, -1, 0, 1, 1, 1, 0, 1},
                                    wedge_points[3 * WEDGE_POINTS] = {-1, -1, -1, 2, -1, -1, -1, 2, -1,
                                                                      -1, -1, 1,  2, -1, 1,  -1, 2, 1},
                                    block_planes[4 * BLOCK_PLANES] = {-1, 0, 0, 1, 1, 0, 0,  1, 0, -1, 0, 1,
                                                                      0,  1, 0, 1, 0, 0, -1, 1, 0, 0,  1, 1},
                                    block_points[3 * BLOCK_POINTS] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1,
                                                                      -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1, 1, 1};
static const unsigned wedge_polygons[] = {3, 0, 2, 1, 3, 3, 4, 5, 4, 0, 3, 5, 2, 4, 0, 1, 4, 3, 4, 1, 2, 5, 4},
                      block_polygons[] = {4, 0, 4, 6, 2, 4, 1, 3, 7, 5, 4, 0, 1, 5, 4,
                                          4, 2, 6, 7, 3, 4, 0, 2, 3, 1, 4, 4, 5, 7, 6};

/* The only place at which the hulls hold these values, one each; 0: there is none, or there are several. */
static int find(const dGeomID hull[2], const void *first, const void *second, size_t size, size_t *offset)
{
    int found = 0;
    for (size_t at = 0; at + size <= HULL_BYTES; at += size)
        if (memcmp((const char *)hull[0] + at, first, size) == 0 &&
            memcmp((const char *)hull[1] + at, second, size) == 0) {
            *offset = at;
            ++found;
        }
    return found == 1;
}

static int findNumber(const dGeomID hull[2], unsigned first, unsigned second, size_t *offset)
{
    return find(hull, &first, &second, sizeof first, offset);
}

static int findArray(const dGeomID hull[2], const void *first, const void *second, size_t *offset)
{
    return find(hull, &first, &second, sizeof first, offset);
}

static const dReal *arrayOf(dGeomID hull, size_t offset)
{
    const dReal *array;
    memcpy(&array, (const char *)hull + offset, sizeof array);
    return array;
}

static unsigned numberOf(dGeomID hull, size_t offset)
{
    unsigned number;
    memcpy(&number, (const char *)hull + offset, sizeof number);
    return number;
}

/* Does it change with the hull? */
static int follows(dGeomID hull)
{
    dGeomSetConvex(hull, block_planes, BLOCK_PLANES, block_points, BLOCK_POINTS, block_polygons);
    return arrayOf(hull, layout.planes) == block_planes && arrayOf(hull, layout.points) == block_points &&
           numberOf(hull, layout.plane_count) == BLOCK_PLANES && numberOf(hull, layout.point_count) == BLOCK_POINTS;
}

static void findLayout(void)
{
    const dGeomID hull[2] = {
        dCreateConvex(NULL, wedge_planes, WEDGE_PLANES, wedge_points, WEDGE_POINTS, wedge_polygons),
        dCreateConvex(NULL, block_planes, BLOCK_PLANES, block_points, BLOCK_POINTS, block_polygons)};
    layout.known = findArray(hull, wedge_planes, block_planes, &layout.planes) &&
                   findArray(hull, wedge_points, block_points, &layout.points) &&
                   findNumber(hull, WEDGE_PLANES, BLOCK_PLANES, &layout.plane_count) &&
                   findNumber(hull, WEDGE_POINTS, BLOCK_POINTS, &layout.point_count) && follows(hull[0]);
    dGeomDestroy(hull[0]);
    dGeomDestroy(hull[1]);
}

int spragHullsKnown(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, findLayout);
    return layout.known;
}

int spragHullRead(dGeomID geom, spragHull *hull)
{
    enum { MOST = 1 << 16 }; /* of either: who has more knows what is wrong */
    if (!spragHullsKnown())
        return 0;
    const unsigned planes = numberOf(geom, layout.plane_count), points = numberOf(geom, layout.point_count);
    hull->planes = arrayOf(geom, layout.planes);
    hull->points = arrayOf(geom, layout.points);
    hull->plane_count = (int)planes;
    hull->point_count = (int)points;
    return hull->planes != NULL && hull->points != NULL && planes <= MOST && points <= MOST && points > 0;
}
