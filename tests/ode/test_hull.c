/* What ODE keeps of a convex hull is found, and is what the program gave last. */
#include "support/check.h"
#include "support/hull.h"

#include "ode/world/hull.h"

static void check(dGeomID geom, const Hull *hull)
{
    spragHull read;
    assert_int_equal(spragHullRead(geom, &read), 1);
    assert_ptr_equal(read.planes, hull->planes);
    assert_ptr_equal(read.points, hull->points);
    assert_int_equal(read.plane_count, hull->plane_count);
    assert_int_equal(read.point_count, hull->point_count);
}

static void itIsWhatTheProgramGaveLast(void **state)
{
    (void)state;
    const Hull block = hullBlock(1, 2, 3), prism = hullPrism(12, 1, 0.5);
    const dSpaceID space = dHashSpaceCreate(NULL);
    const dGeomID geom[2] = {hullGeom(space, &block), hullGeom(NULL, &prism)};
    assert_int_equal(spragHullsKnown(), 1);
    check(geom[0], &block);
    check(geom[1], &prism);
    dGeomSetConvex(geom[0], prism.planes, prism.plane_count, prism.points, prism.point_count, prism.polygons);
    check(geom[0], &prism);
    dGeomDestroy(geom[1]);
    dSpaceDestroy(space);
}

static void whatHasNothingIsUnknown(void **state)
{
    (void)state;
    const Hull block = hullBlock(1, 2, 3);
    const dGeomID geom = hullGeom(NULL, &block);
    spragHull read;
    dGeomSetConvex(geom, NULL, 0, block.points, block.point_count, block.polygons);
    assert_int_equal(spragHullRead(geom, &read), 0);
    dGeomSetConvex(geom, block.planes, block.plane_count, block.points, 0, block.polygons);
    assert_int_equal(spragHullRead(geom, &read), 0);
    dGeomSetConvex(geom, block.planes, 1u << 31, block.points, block.point_count, block.polygons);
    assert_int_equal(spragHullRead(geom, &read), 0);
    dGeomDestroy(geom);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(itIsWhatTheProgramGaveLast),
        cmocka_unit_test(whatHasNothingIsUnknown),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
