/* Faces of hulls, and what of a line or of a polygon lies above one; planes that a program gets wrong. */
#include "support/check.h"
#include "support/hull.h"

#include "linalg/vec3.h"
#include "ode/shape/facet.h"

static spragHull of(const Hull *hull)
{
    return (spragHull){hull->planes, hull->points, (int)hull->plane_count, (int)hull->point_count};
}

static double areaOf(double (*corner)[2], int corners)
{
    double sum = 0;
    for (int k = 0; k < corners; ++k) {
        const double *a = corner[k], *b = corner[(k + 1) % corners];
        sum += 0.5 * (a[0] * b[1] - a[1] * b[0]);
    }
    return sum;
}

/* Of a 2 x 4 x 6 block. */
static void checkBlock(const Hull *block, int planes)
{
    static const double area[3] = {24, 12, 8};
    const spragHull hull = of(block);
    for (int k = 0; k < planes; ++k) {
        spragFacet facet;
        double x[3];
        const int axis = k * 6 / planes / 2;
        assert_int_equal(spragFacetFind(&hull, k, &facet), 1);
        assert_int_equal(facet.corners, 4);
        CHECK_NEAR(fabs(facet.normal[axis]), 1, 1e-15);
        CHECK_NEAR(facet.height, axis + 1, 1e-15);
        CHECK_NEAR(areaOf(facet.corner, 4), area[axis], 1e-12);
        for (int c = 0; c < 4; ++c) {
            spragFacetAt(&facet, facet.corner[c], x);
            for (int i = 0; i < 3; ++i)
                CHECK_NEAR(fabs(x[i]), i + 1, 1e-12);
        }
    }
}

static void facesAreFound(void **state)
{
    (void)state;
    const Hull block = hullBlock(1, 2, 3), prism = hullPrism(12, 1, 0.5);
    checkBlock(&block, 6);
    const spragHull hull = of(&prism);
    spragFacet facet;
    for (int k = 0; k < 14; ++k) {
        assert_int_equal(spragFacetFind(&hull, k, &facet), 1);
        assert_int_equal(facet.corners, k < 12 ? 4 : 12);
        CHECK_NEAR(facet.height, k < 12 ? cos(M_PI / 12) : 0.5, 1e-15);
        CHECK_NEAR(areaOf(facet.corner, facet.corners), k < 12 ? 2 * sin(M_PI / 12) : 12 * 0.5 * sin(M_PI / 6), 1e-12);
    }
}

/* Planes of other lengths, or rounded, and without their distance; each face twice, as of triangles. */
static void planesAreHints(void **state)
{
    (void)state;
    Hull block = hullBlock(1, 2, 3);
    for (int k = 0; k < 24; ++k)
        block.planes[k] *= 3;
    checkBlock(&block, 6);
    for (int k = 0; k < 6; ++k) {
        block.planes[4 * k + (k / 2 + 1) % 3] += (dReal)1e-3;
        block.planes[4 * k + 3] = -7;
    }
    checkBlock(&block, 6);
    Hull twice = block;
    twice.plane_count = 0;
    for (int k = 0; k < 12; ++k)
        hullPlane(&twice, block.planes[4 * (k / 2)], block.planes[4 * (k / 2) + 1], block.planes[4 * (k / 2) + 2], 0);
    checkBlock(&twice, 12);
}

/* What faces nowhere, or no face; points that are many, in one place, or within. */
static void whatIsNoFaceIsNone(void **state)
{
    (void)state;
    Hull block = hullBlock(1, 2, 3);
    static const double wrong[][3] = {{0, 0, 0}, {NAN, 0, 0}, {INFINITY, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 0.1, 0}};
    spragFacet facet;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        Hull own = block;
        for (int i = 0; i < 3; ++i)
            own.planes[i] = (dReal)wrong[k][i];
        const spragHull hull = of(&own);
        assert_int_equal(spragFacetFind(&hull, 0, &facet), 0);
    }
    Hull bulge = block; /* in the middle of the top, 1e-4 above it: there is no plane */
    hullPoint(&bulge, 0, 0, 3.0001);
    const spragHull bulging = of(&bulge);
    assert_int_equal(spragFacetFind(&bulging, 4, &facet), 0);
    Hull more = block; /* on the edges, in the face, in the hull, and again */
    hullPoint(&more, 0, 2, 3);
    hullPoint(&more, 0.3, 0.2, 3);
    hullPoint(&more, 0, 0, 0);
    hullPoint(&more, 1, 2, 3);
    hullPoint(&more, -1, -2, 3);
    checkBlock(&more, 6);
    Hull flat = {.plane_count = 0}; /* all on one line */
    hullPlane(&flat, 0, 0, 1, 0);
    for (int i = 0; i < 5; ++i)
        hullPoint(&flat, i, 0, 0);
    const spragHull line = of(&flat);
    assert_int_equal(spragFacetFind(&line, 0, &facet), 0);
}

static void facesOfTooManyCornersAreLeft(void **state)
{
    (void)state;
    enum { MANY = 3 * (SPRAG_FACET_CORNERS + 1) };
    dReal points[3 * MANY + 3], plane[4] = {0, 0, 1, 0};
    for (int i = 0; i <= MANY; ++i) {
        points[3 * i] = i < MANY ? (dReal)cos(2 * M_PI * i / MANY) : 0;
        points[3 * i + 1] = i < MANY ? (dReal)sin(2 * M_PI * i / MANY) : 0;
        points[3 * i + 2] = i < MANY ? 0 : -1;
    }
    const spragHull hull = {plane, points, 1, MANY + 1};
    spragFacet facet;
    assert_int_equal(spragFacetFind(&hull, 0, &facet), 0);
}

static void linesAreClipped(void **state)
{
    (void)state;
    const Hull block = hullBlock(1, 2, 3);
    const spragHull hull = of(&block);
    spragFacet facet;
    assert_int_equal(spragFacetFind(&hull, 4, &facet), 1);
    const double at[3] = {0.25, 0, 3.1}, along[3] = {1, 0, 0}, beside[3] = {0, 2.1, 3.1}, on[3] = {0, 2, 3};
    double stretch[2] = {-10, 10};
    assert_int_equal(spragFacetClip(&facet, at, along, stretch), 1);
    CHECK_NEAR(stretch[0], -1.25, 1e-8);
    CHECK_NEAR(stretch[1], 0.75, 1e-8);
    double inside[2] = {-0.5, 0.6};
    assert_int_equal(spragFacetClip(&facet, at, along, inside), 1);
    CHECK_NEAR(inside[0], -0.5, 0);
    CHECK_NEAR(inside[1], 0.6, 0);
    assert_int_equal(spragFacetClip(&facet, beside, along, (double[2]){-10, 10}), 0);
    assert_int_equal(spragFacetClip(&facet, on, along, (double[2]){-10, 10}), 1);
    assert_int_equal(spragFacetClip(&facet, at, along, (double[2]){2, 10}), 0);
}

/* A square of side 1 about the corner, the edge and the middle of the face, and beside it. */
static void polygonsAreCut(void **state)
{
    (void)state;
    const Hull block = hullBlock(1, 2, 3);
    const spragHull hull = of(&block);
    spragFacet facet;
    assert_int_equal(spragFacetFind(&hull, 4, &facet), 1);
    static const double about[][3] = {{1, 2, 0.25}, {1, 0, 0.5}, {0, 0, 1}, {2, 0, 0}};
    for (size_t k = 0; k < sizeof about / sizeof *about; ++k) {
        double corner[16][2];
        for (int c = 0; c < 4; ++c) {
            const double x[3] = {about[k][0] + (c == 0 || c == 3 ? -0.5 : 0.5), about[k][1] + (c < 2 ? -0.5 : 0.5), 3};
            corner[c][0] = spragDot3(facet.along[0], x);
            corner[c][1] = spragDot3(facet.along[1], x);
        }
        const int corners = spragFacetOverlap(&facet, corner, 4, 16);
        CHECK_NEAR(areaOf(corner, corners), about[k][2], 1e-12);
        assert_true(about[k][2] > 0 || corners == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facesAreFound),      cmocka_unit_test(planesAreHints),
        cmocka_unit_test(whatIsNoFaceIsNone), cmocka_unit_test(facesOfTooManyCornersAreLeft),
        cmocka_unit_test(linesAreClipped),    cmocka_unit_test(polygonsAreCut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
