/* The velocity-product term of a contact: its normal part is the second derivative of the gap while both bodies keep
 * their twists, taken here from the gap itself by differences. */
#include "support/check.h"
#include "support/random_problem.h"
#include "support/uniform.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "linalg/vec3.h"
#include "ode/shape/velocity_product.h"

static unsigned long long seed = 11;

/* x turned by the rotation that angular velocity w makes in time t (Rodrigues). */
static void turn(const double w[3], double t, const double x[3], double out[3])
{
    const double rate = spragNorm3(w), angle = rate * t;
    double e[3], c[3];
    for (int i = 0; i < 3; ++i)
        e[i] = rate > 0 ? w[i] / rate : 0;
    spragCross3(c, e, x);
    const double along = spragDot3(e, x);
    for (int i = 0; i < 3; ++i)
        out[i] = x[i] * cos(angle) + c[i] * sin(angle) + e[i] * along * (1 - cos(angle));
}

/* Where the point of the body that is at x now will be at t. */
static void carry(const spragBodyState *body, double t, const double x[3], double out[3])
{
    double arm[3];
    if (body == NULL) {
        memcpy(out, x, 3 * sizeof *out);
        return;
    }
    for (int i = 0; i < 3; ++i)
        arm[i] = x[i] - body->position[i];
    turn(body->velocity + 3, t, arm, out);
    for (int i = 0; i < 3; ++i)
        out[i] += body->position[i] + t * body->velocity[i];
}

typedef struct Pair {
    spragBodyState state[2];
    const spragBodyState *body[2];
    spragCurvature curvature;
    double point[3], normal[3];
} Pair;

/* Gap at t: of two balls about their centres, or of a ball and a plane fixed in the other body. */
static double gapAt(const Pair *p, double t)
{
    double centre[2][3], now[2][3], n[3];
    for (int side = 0; side < 2; ++side) {
        const double r = isinf(p->curvature.radius[side]) ? 0 : (side == 0 ? 1 : -1) * p->curvature.radius[side];
        for (int i = 0; i < 3; ++i)
            centre[side][i] = p->point[i] + r * p->normal[i];
        carry(p->body[side], t, centre[side], now[side]);
    }
    const double d[3] = {now[0][0] - now[1][0], now[0][1] - now[1][1], now[0][2] - now[1][2]};
    const int flat = isinf(p->curvature.radius[1]) ? 1 : isinf(p->curvature.radius[0]) ? 0 : -1;
    if (flat < 0)
        return spragNorm3(d);
    memcpy(n, p->normal, sizeof n);
    if (p->body[flat] != NULL)
        turn(p->body[flat]->velocity + 3, t, p->normal, n);
    return spragDot3(n, d);
}

static void randomPair(Pair *p, double radius_0, double radius_1, int world)
{
    memset(p, 0, sizeof *p);
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < 6; ++i)
            p->state[side].velocity[i] = 2 * uniform(&seed);
        for (int i = 0; i < 3; ++i)
            p->state[side].position[i] = uniform(&seed);
        p->body[side] = side == 1 && world ? NULL : &p->state[side];
    }
    double length = 0;
    for (int i = 0; i < 3; ++i) {
        p->point[i] = uniform(&seed);
        p->normal[i] = uniform(&seed);
        length += p->normal[i] * p->normal[i];
    }
    for (int i = 0; i < 3; ++i)
        p->normal[i] /= sqrt(length);
    p->curvature.radius[0] = radius_0, p->curvature.radius[1] = radius_1;
}

static void normalPartIsTheGaps(void **state)
{
    (void)state;
    static const struct {
        double radius[2];
        int world;
    } table[] = {{{0, SPRAG_CURVATURE_FLAT}, 1},   /* a point on the ground */
                 {{0.3, SPRAG_CURVATURE_FLAT}, 1}, /* a ball on the ground */
                 {{0, SPRAG_CURVATURE_FLAT}, 0},   /* a point on a moving plane */
                 {{0.3, SPRAG_CURVATURE_FLAT}, 0}, /* a ball on a moving plane */
                 {{SPRAG_CURVATURE_FLAT, 0.2}, 0}, /* a moving plane on a ball */
                 {{0.3, 0.2}, 0},                  /* two balls */
                 {{0.3, 0.2}, 1}};                 /* one of them fixed */
    static const double h = 1e-4;
    for (size_t k = 0; k < sizeof table / sizeof *table; ++k)
        for (int round = 0; round < 20; ++round) {
            Pair p;
            double product[3];
            randomPair(&p, table[k].radius[0], table[k].radius[1], table[k].world);
            spragVelocityProduct(p.body, p.curvature.radius, p.point, p.normal, product);
            const double second = (gapAt(&p, h) - 2 * gapAt(&p, 0) + gapAt(&p, -h)) / (h * h);
            CHECK_NEAR(spragDot3(product, p.normal), second, 1e-5 * (1 + fabs(second)));
        }
}

/* Distance at t of the axes of two pipes, or of the centre of a ball and the axis of a pipe (axis 0: a ball). */
static double axesApartAt(const Pair *p, const double axis[2][3], double t)
{
    double centre[2][3], now[2][3], e[2][3], c[3];
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < 3; ++i)
            centre[side][i] = p->point[i] + (side == 0 ? 1 : -1) * p->curvature.radius[side] * p->normal[i];
        carry(p->body[side], t, centre[side], now[side]);
        memcpy(e[side], axis[side], sizeof e[side]);
        if (p->body[side] != NULL)
            turn(p->body[side]->velocity + 3, t, axis[side], e[side]);
    }
    const double d[3] = {now[0][0] - now[1][0], now[0][1] - now[1][1], now[0][2] - now[1][2]};
    const int balls[2] = {spragNorm3(e[0]) == 0, spragNorm3(e[1]) == 0};
    if (balls[0] || balls[1]) {
        spragCross3(c, d, e[balls[0]]);
        return spragNorm3(c);
    }
    spragCross3(c, e[0], e[1]);
    return fabs(spragDot3(d, c)) / spragNorm3(c);
}

/* The same of pipes, which are straight along their axes; who is first makes no difference. */
static void pipesAreStraight(void **state)
{
    (void)state;
    static const double h = 1e-4, step = 0.01, zero[3] = {0, 0, 0};
    for (int k = 0; k < 120; ++k) {
        Pair p;
        double across[2][3], rest[3], random[3];
        randomPair(&p, 0.3, 0.2, k % 2);
        spragCurvature swapped = {.radius = {0.2, 0.3}, .has_axis = 1};
        double(*axis)[3] = p.curvature.axis;
        p.curvature.has_axis = 1;
        for (int side = 0; side < 2; ++side) {
            for (int i = 0; i < 3; ++i)
                random[i] = uniform(&seed);
            spragCross3(axis[side], random, p.normal);
            const double length = spragNorm3(axis[side]);
            for (int i = 0; i < 3; ++i)
                axis[side][i] /= length;
        }
        if (k % 3 < 2)
            memcpy(axis[k % 3], zero, sizeof zero);
        memcpy(swapped.axis[0], axis[1], sizeof zero), memcpy(swapped.axis[1], axis[0], sizeof zero);
        const double down[3] = {-p.normal[0], -p.normal[1], -p.normal[2]};
        const spragBodyState *turned[2] = {p.body[1], p.body[0]};
        const spragCurvedContact contact = {p.body, &p.curvature, p.normal, p.point, NULL, NAN, 0},
                                 other = {turned, &swapped, down, p.point, NULL, NAN, 0};
        const double along = spragFaceProduct(&contact, step, across[0], rest),
                     second = (axesApartAt(&p, (const double(*)[3])axis, h) -
                               2 * axesApartAt(&p, (const double(*)[3])axis, 0) +
                               axesApartAt(&p, (const double(*)[3])axis, -h)) /
                              (h * h);
        CHECK_NEAR(along, second, 2e-5 * (1 + fabs(second)));
        CHECK_NEAR(spragFaceProduct(&other, step, across[1], rest), along, 1e-9 * (1 + fabs(along)));
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(across[1][i], -across[0][i], 1e-9 * (1 + fabs(along)));
    }
}

/* A cylinder, body[round], that touches a face of a box, or the world, with the lowest point of its rim.  tilt: the
 * angle between its axis and the normal. */
typedef struct Coin {
    dWorldID world;
    dGeomID geom[2];
    Pair pair; /* axes and rim too */
    int round;
    double axis[3], up[3], radius, half;
} Coin;

static void placeGeom(Coin *coin, int side, dGeomID geom, const double z[3])
{
    dMatrix3 R;
    spragBodyState *state = &coin->pair.state[side];
    state->id = dBodyCreate(coin->world);
    coin->geom[side] = geom;
    dGeomSetBody(geom, state->id);
    dRFromZAxis(R, z[0], z[1], z[2]);
    dBodySetRotation(state->id, R);
    dBodySetPosition(state->id, state->position[0], state->position[1], state->position[2]);
}

/* The lowest point of the rim's circle about `centre`. */
static void lowest(const Coin *coin, const double centre[3], const double axis[3], const double up[3], double point[3])
{
    const double cosine = spragDot3(axis, up), sine = sqrt(1 - cosine * cosine);
    for (int i = 0; i < 3; ++i)
        point[i] =
            centre[i] - (cosine > 0 ? 1 : -1) * coin->half * axis[i] - coin->radius / sine * (up[i] - cosine * axis[i]);
}

static void makeCoin(Coin *coin, int round, int world, double tilt)
{
    double random[3], t[3];
    memset(coin, 0, sizeof *coin);
    coin->world = dWorldCreate();
    coin->round = round, coin->radius = 0.3, coin->half = 0.1;
    Pair *p = &coin->pair;
    randomPair(p, 0, 0, 0);
    const double side = round == 0 ? 1 : -1;
    for (int i = 0; i < 3; ++i) {
        coin->up[i] = side * p->normal[i];
        random[i] = uniform(&seed);
    }
    spragCross3(t, random, coin->up);
    for (int i = 0; i < 3; ++i)
        coin->axis[i] = cos(tilt) * coin->up[i] + sin(tilt) * t[i] / spragNorm3(t);
    placeGeom(coin, round, dCreateCylinder(0, coin->radius, 2 * coin->half), coin->axis);
    if (world)
        p->body[1 - round] = NULL;
    else
        placeGeom(coin, 1 - round, dCreateBox(0, 1, 1, 1), coin->up);
    lowest(coin, p->state[round].position, coin->axis, coin->up, p->point);
}

static void findCurvature(Coin *coin)
{
    spragCurvature *c = &coin->pair.curvature;
    for (int side = 0; side < 2; ++side)
        c->radius[side] = coin->geom[side] == NULL ? SPRAG_CURVATURE_FLAT : spragCurvatureOwn(coin->geom[side]);
    spragCurvatureFind(c, coin->geom, coin->pair.point, coin->pair.normal, 0);
}

static void destroyCoin(Coin *coin)
{
    for (int side = 0; side < 2; ++side)
        if (coin->geom[side] != NULL)
            dGeomDestroy(coin->geom[side]);
    dWorldDestroy(coin->world);
}

/* Slip at t of the bodies where the rim is lowest then, in the frame of the plane. */
static void slipAt(const Coin *coin, double t, double slip[3])
{
    const Pair *p = &coin->pair;
    const spragBodyState *round = p->body[coin->round], *plane = p->body[1 - coin->round];
    double axis[3], up[3], centre[3], point[3], v[2][3], turned[3];
    turn(round->velocity + 3, t, coin->axis, axis);
    memcpy(up, coin->up, sizeof up);
    if (plane != NULL)
        turn(plane->velocity + 3, t, coin->up, up);
    carry(round, t, round->position, centre);
    lowest(coin, centre, axis, up, point);
    for (int side = 0; side < 2; ++side) {
        spragBodyState now = p->state[side];
        for (int i = 0; i < 3; ++i)
            now.position[i] += t * now.velocity[i];
        spragPointVelocity(v[side], p->body[side] == NULL ? NULL : &now, point);
    }
    for (int i = 0; i < 3; ++i)
        turned[i] = slip[i] = v[0][i] - v[1][i];
    if (plane != NULL)
        turn(plane->velocity + 3, -t, turned, slip);
}

/* Of a cylinder that leans the whole term is that of its rim's circle: differences of the slip where that is lowest. */
static void rimsAreCircles(void **state)
{
    (void)state;
    static const double h = 1e-5, tilts[] = {0.05, 0.4, 1, 1.4, 1.74, 2.5, 3.09};
    for (int k = 0; k < 8 * 7; ++k) {
        Coin coin;
        double out[3], rest[3], before[3], after[3];
        makeCoin(&coin, k & 1, k & 2, tilts[k / 8]);
        findCurvature(&coin);
        const Pair *p = &coin.pair;
        CHECK_NEAR(p->curvature.rim.share, 1, 0);
        const spragCurvedContact contact = {p->body, &p->curvature, p->normal, p->point, NULL, NAN, 0};
        const double along = spragFaceProduct(&contact, 1e-9, out, rest);
        slipAt(&coin, -h, before);
        slipAt(&coin, h, after);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(out[i], (after[i] - before[i]) / (2 * h), 1e-6 * (1 + spragNorm3(out)));
        CHECK_NEAR(along, spragDot3(out, p->normal), 1e-9 * (1 + fabs(along)));
        destroyCoin(&coin);
    }
}

/* m/s^2, what there is of it in this step and the next. */
static double wholeOf(const spragCurvedContact *contact, double step, double whole[3], double rest[3])
{
    spragFaceProduct(contact, step, whole, rest);
    for (int i = 0; i < 3; ++i)
        whole[i] += rest[i];
    return spragNorm3(whole);
}

/* Of a rim whose contact was there half of what lies outside the dual of the cone is left to the next step, and nothing
 * is taken from it, however fast its bodies turn.  A new one, and one of several of a face, has less. */
static void rimsGoByHalves(void **state)
{
    (void)state;
    static const double step = 0.3, tilts[] = {0.05, 0.4, 1, 1.4, 1.74, 2.5, 3.09};
    int some = 0, none = 0, less[2] = {0, 0};
    for (int k = 0; k < 8 * 7; ++k) {
        Coin coin;
        double all[3], found[3], rest[3], ignored[3];
        makeCoin(&coin, k & 1, 1, tilts[k / 8]);
        findCurvature(&coin);
        const Pair *p = &coin.pair;
        spragBodyState *round = &coin.pair.state[coin.round];
        round->inverse_mass = 1;
        round->inertia[0] = round->inertia[4] = round->inertia[8] = 0.01;
        const double mu = k & 2 ? 0.2 : 5, *middle = round->position;
        const spragCurvedContact given = {p->body, &p->curvature, p->normal, p->point, NULL, NAN, 1},
                                 known = {p->body, &p->curvature, p->normal, p->point, NULL, mu, 1},
                                 fresh = {p->body, &p->curvature, p->normal, p->point, NULL, mu, 0},
                                 shared = {p->body, &p->curvature, p->normal, p->point, middle, mu, 1},
                                 at_middle = {p->body, &p->curvature, p->normal, p->point, middle, NAN, 1};
        const double size = wholeOf(&given, step, all, ignored), of_middle = wholeOf(&at_middle, step, found, ignored);
        less[0] += wholeOf(&fresh, step, found, ignored) < 0.9 * size;
        less[1] += wholeOf(&shared, step, found, ignored) < 0.9 * of_middle;
        wholeOf(&known, step, found, rest);
        const double normal = spragDot3(p->normal, all), left = spragDot3(p->normal, rest);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(found[i], all[i], 1e-12 * (1 + size));
            all[i] -= normal * p->normal[i];
        }
        const double outside = fmax(0, 1 - fmax(normal, 0) / (mu * spragNorm3(all)));
        some += outside > 0 && outside < 1;
        none += outside == 0;
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(rest[i] - left * p->normal[i], 0.5 * outside * all[i], 1e-12 * (1 + size));
        destroyCoin(&coin);
    }
    assert_true(some > 0 && none > 0 && less[0] > 0 && less[1] > 0);
}

/* Two points that a collider names for one of a rim are one: the middle of their face is nearby. */
static void twoPointsOfARimAreOne(void **state)
{
    (void)state;
    int less = 0;
    for (int k = 0; k < 8; ++k) {
        Coin coin;
        double middle[3], found[3], all[3], rest[3];
        makeCoin(&coin, k & 1, 1, 0.4);
        findCurvature(&coin);
        const Pair *p = &coin.pair;
        spragBodyState *round = &coin.pair.state[coin.round];
        round->inverse_mass = 1;
        round->inertia[0] = round->inertia[4] = round->inertia[8] = 0.01;
        for (int far = 0; far < 2; ++far) {
            for (int i = 0; i < 3; ++i)
                middle[i] = p->point[i] + (far ? 0.1 : 0.005) * coin.radius * coin.axis[i];
            const spragCurvedContact given = {p->body, &p->curvature, p->normal, p->point, middle, NAN, 1},
                                     contact = {p->body, &p->curvature, p->normal, p->point, middle, 0.2, 1};
            const double size = wholeOf(&given, 0.3, all, rest), has = wholeOf(&contact, 0.3, found, rest);
            assert_true(far || fabs(has - size) < 1e-12 * size);
            less += far && has < 0.9 * size;
        }
        destroyCoin(&coin);
    }
    assert_true(less >= 4);
}

/* In a long step a rim that all but lies turns by no more than a turn: how fast its lowest point comes down is what the
 * tilt, a vector, becomes in that step. */
static void aRimTurnsByAStep(void **state)
{
    (void)state;
    static const double step = 0.01, tilt = 0.02;
    for (int k = 1; k <= 5; ++k) {
        const double w = 1.0 * k, radius = 0.3, s = sin(tilt), n[3] = {0, 0, 1}, point[3] = {-radius * cos(tilt), 0, 0};
        const spragBodyState coin = {.position = {0, 0, radius * s}, .velocity = {0, 0, 0, w, 0, 0}};
        const spragBodyState *body[2] = {&coin, NULL};
        spragCurvature curvature = {.radius = {radius, SPRAG_CURVATURE_FLAT},
                                    .rim = {.axis = {-s, 0, cos(tilt)}, .radius = radius, .share = 1}};
        const spragCurvedContact contact = {body, &curvature, n, point, NULL, NAN, 0};
        double out[3], rest[3];
        const double along = spragFaceProduct(&contact, step, out, rest), exact = -radius * step * w * w;
        CHECK_NEAR(along * step, exact / sqrt(s * s + step * step * w * w), 2e-3 * w * radius);
    }
}

/* There is none where it lies, on an end or on its side, where another point is touched, or on what is not flat; and it
 * comes bit by bit. */
static void whatLiesHasNoRim(void **state)
{
    (void)state;
    for (int k = 0; k < 8; ++k) {
        double last = -1;
        for (double tilt = 1e-4; tilt < 1.6; tilt *= 1.01) {
            Coin coin;
            makeCoin(&coin, k & 1, k & 2, k & 4 ? acos(-1) - tilt : tilt);
            findCurvature(&coin);
            const double share = coin.pair.curvature.rim.share;
            assert_true(tilt < 1e-3 || tilt > 1.54 ? share == 0 : share > 0 || tilt < 1.1e-3);
            assert_true(tilt < 0.011 || tilt > 1.47 || share == 1);
            assert_true(last < 0 || fabs(share - last) < 0.25);
            last = share;
            for (int i = 0; i < 3; ++i)
                coin.pair.point[i] -= 0.02 * coin.axis[i];
            findCurvature(&coin);
            assert_true(share == coin.pair.curvature.rim.share); /* on its lowest line */
            for (int i = 0; i < 3; ++i)
                coin.pair.point[i] += 0.02 * coin.up[i];
            findCurvature(&coin);
            assert_true(tilt < 0.2 || coin.pair.curvature.rim.share == 0);
            destroyCoin(&coin);
        }
    }
    Coin coin;
    makeCoin(&coin, 0, 0, 1);
    for (int i = 0; i < 3; ++i)
        coin.pair.normal[i] = -coin.axis[i]; /* no face of the box has it */
    findCurvature(&coin);
    CHECK_NEAR(coin.pair.curvature.rim.share, 0, 0);
    destroyCoin(&coin);
}

/* Who is first makes no difference, also while the bodies approach. */
static void swappedBodiesHaveTheOpposite(void **state)
{
    (void)state;
    static const double radius[][2] = {
        {0, SPRAG_CURVATURE_FLAT}, {0.3, SPRAG_CURVATURE_FLAT}, {0.3, 0.2}, {0.3, 0}, {0, 0}};
    for (size_t k = 0; k < sizeof radius / sizeof *radius; ++k)
        for (int world = 0; world < 2; ++world) {
            Pair p;
            double product[3], opposite[3], down[3];
            randomPair(&p, radius[k][0], radius[k][1], world);
            spragVelocityProduct(p.body, p.curvature.radius, p.point, p.normal, product);
            for (int i = 0; i < 3; ++i)
                down[i] = -p.normal[i];
            spragVelocityProduct((const spragBodyState *[2]){p.body[1], p.body[0]},
                                 (double[2]){p.curvature.radius[1], p.curvature.radius[0]}, p.point, down, opposite);
            for (int i = 0; i < 3; ++i)
                CHECK_NEAR(opposite[i], -product[i], 1e-12);
        }
}

/* A ball that rolls about its centre on the ground has no such term at all, whatever its spin. */
static void rollingHasNone(void **state)
{
    (void)state;
    Pair p;
    double product[3];
    randomPair(&p, 0.3, SPRAG_CURVATURE_FLAT, 1);
    for (int i = 0; i < 3; ++i)
        p.state[0].position[i] = p.point[i] + 0.3 * p.normal[i];
    spragVelocityProduct(p.body, p.curvature.radius, p.point, p.normal, product);
    CHECK_NEAR(spragNorm3(product), 0, 1e-14);
}

static void unknownSurfacesHaveNone(void **state)
{
    (void)state;
    Pair p;
    double product[3];
    randomPair(&p, SPRAG_CURVATURE_UNKNOWN, 0, 0);
    spragVelocityProduct(p.body, p.curvature.radius, p.point, p.normal, product);
    CHECK_NEAR(spragNorm3(product), 0, 0);
    p.curvature.radius[0] = p.curvature.radius[1] = SPRAG_CURVATURE_FLAT;
    spragVelocityProduct(p.body, p.curvature.radius, p.point, p.normal, product);
    CHECK_NEAR(spragNorm3(product), 0, 0);
}

/* Half of the term, and half of it as the driven body sees it: B(s, x) and its share, by polarization
 * (velocity_product.h). */
static void halfAsSeen(const Pair *p, const double point[3], const double product[3], double out[3])
{
    Pair own = *p, with = *p;
    double r[3], moves[3], ss[3], dd[3], sd[3];
    for (int i = 0; i < 3; ++i)
        r[i] = p->body[0]->position[i] - p->body[1]->position[i];
    spragCross3(moves, p->body[1]->velocity + 3, r);
    for (int i = 0; i < 3; ++i) {
        with.state[0].velocity[i] = p->body[1]->velocity[i] + moves[i];
        with.state[0].velocity[3 + i] = p->body[1]->velocity[3 + i];
    }
    for (int i = 0; i < 6; ++i) {
        own.state[0].velocity[i] -= with.state[0].velocity[i];
        own.state[1].velocity[i] = 0;
    }
    spragVelocityProduct((const spragBodyState *[2]){own.state, own.state + 1}, p->curvature.radius, point, p->normal,
                         ss);
    spragVelocityProduct((const spragBodyState *[2]){with.state, with.state + 1}, p->curvature.radius, point, p->normal,
                         dd);
    for (int i = 0; i < 3; ++i)
        sd[i] = (product[i] - ss[i] - dd[i]) / 2;
    const double share = spragNorm3(ss) / (spragNorm3(ss) + spragNorm3(sd));
    for (int i = 0; i < 3; ++i)
        out[i] = (product[i] + share * (ss[i] + sd[i])) / 2;
}

/* Across the normal it is that of the face's middle, half of it as the plane sees it if that is driven; bodies that
 * turn by more than a radian a step have less of it. */
static void stepsHaveThatOfTheFace(void **state)
{
    (void)state;
    for (int k = 0; k < 6; ++k) {
        const double turn = 0.5 * (1 << k % 3);
        const int driven = k / 3;
        Pair p;
        double at[3], middle[3], half[3], across[3], rest[3], step = 0;
        randomPair(&p, 0, SPRAG_CURVATURE_FLAT, 0);
        p.state[1].kinematic = driven;
        for (int side = 0; side < 2; ++side)
            step = fmax(step, spragNorm3(p.body[side]->velocity + 3));
        step = turn / step;
        const double place[3] = {p.point[0] + 0.1, p.point[1], p.point[2] - 0.2};
        const double part = turn > 1 ? 1 / (turn * turn) : 1;
        spragVelocityProduct(p.body, p.curvature.radius, p.point, p.normal, at);
        spragVelocityProduct(p.body, p.curvature.radius, place, p.normal, middle);
        const spragCurvedContact alone = {p.body, &p.curvature, p.normal, p.point, NULL, NAN, 0},
                                 several = {p.body, &p.curvature, p.normal, p.point, place, NAN, 0};
        CHECK_NEAR(spragFaceProduct(&alone, step, across, rest), part * spragDot3(p.normal, at), 1e-12);
        halfAsSeen(&p, p.point, at, half);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(across[i], part * (driven ? half[i] : at[i]), 1e-12);
            CHECK_NEAR(across[i] + rest[i], part * at[i], 1e-12);
        }
        CHECK_NEAR(spragFaceProduct(&several, step, across, rest), part * spragDot3(p.normal, at), 1e-12);
        halfAsSeen(&p, place, middle, half);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(across[i], part * (driven ? half[i] : middle[i]), 1e-12);
            CHECK_NEAR(across[i] + rest[i], part * middle[i], 1e-12);
        }
    }
}

/* What does not turn sees the term as it is, wherever its centre is, and whoever has the face: a box that spins on a
 * kinematic box.  (It was pushed along by w^2 times its distance from the centre of that.) */
static void whatDoesNotTurnIsAFloor(void **state)
{
    (void)state;
    static const double radius[][2] = {{0, 0}, {SPRAG_CURVATURE_FLAT, 0}, {0, SPRAG_CURVATURE_FLAT}, {0.2, 0.3}};
    for (int k = 0; k < 8; ++k) {
        Pair p;
        double product[3], out[3], rest[3];
        randomPair(&p, radius[k % 4][0], radius[k % 4][1], 0);
        p.state[1].kinematic = 1;
        for (int i = 0; i < 3; ++i) {
            p.state[1].velocity[3 + i] = 0;
            p.state[1].position[i] += k / 4 * 100;
        }
        spragVelocityProduct(p.body, p.curvature.radius, p.point, p.normal, product);
        const spragCurvedContact contact = {p.body, &p.curvature, p.normal, p.point, NULL, NAN, 0};
        CHECK_NEAR(spragFaceProduct(&contact, 0.01, out, rest), spragDot3(product, p.normal), 1e-12);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(out[i], product[i], 1e-12);
            CHECK_NEAR(rest[i], 0, 0);
        }
    }
}

/* What is left of a term that could give energy is the same wherever a driven body's motion is named. */
static void energyIsAsTheDrivenBodySeesIt(void **state)
{
    (void)state;
    const double step = 0.2;
    int less = 0;
    for (int k = 0; k < 20; ++k) {
        Pair p;
        double left[2][4], rest[3];
        randomPair(&p, 0, SPRAG_CURVATURE_FLAT, 0);
        p.state[1].kinematic = 1;
        p.state[0].inverse_mass = 1;
        p.state[0].inertia[0] = p.state[0].inertia[4] = p.state[0].inertia[8] = 0.01;
        for (int place = 0; place < 2; ++place) {
            const spragCurvedContact contact = {p.body, &p.curvature, p.normal, p.point, NULL, 1, 0};
            const double along = spragFaceProduct(&contact, step, left[place], rest);
            double at[3], carried = 0;
            spragVelocityProduct(p.body, p.curvature.radius, p.point, p.normal, at);
            for (int i = 0; i < 3; ++i) {
                left[place][i] -= rest[i];
                carried += 2 * rest[i] * p.normal[i];
                less += place == 0 && fabs(left[place][i] + 2 * rest[i] - at[i]) > 1e-3;
            }
            left[place][3] = along - carried;
            const double arm[3] = {5, -2, 3};
            double moves[3];
            spragCross3(moves, p.state[1].velocity + 3, arm);
            for (int i = 0; i < 3; ++i) {
                p.state[1].position[i] += arm[i];
                p.state[1].velocity[i] += moves[i];
            }
        }
        for (int i = 0; i < 4; ++i)
            CHECK_NEAR(left[1][i], left[0][i], 1e-9);
    }
    assert_true(less > 0);
}

/* Two contacts at one point have what one has. */
static void twoAtOnePointAreAsOne(void **state)
{
    (void)state;
    for (int k = 0; k < 20; ++k) {
        Pair p;
        double one[3], two[3], rest[3];
        randomPair(&p, 0, SPRAG_CURVATURE_FLAT, 1);
        p.state[0].inverse_mass = 1;
        p.state[0].inertia[0] = p.state[0].inertia[4] = p.state[0].inertia[8] = 0.01;
        const spragCurvedContact alone = {p.body, &p.curvature, p.normal, p.point, NULL, 1, 0},
                                 both = {p.body, &p.curvature, p.normal, p.point, p.point, 1, 0};
        CHECK_NEAR(spragFaceProduct(&alone, 0.2, one, rest), spragFaceProduct(&both, 0.2, two, rest), 0);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(one[i], two[i], 0);
    }
}

static void geomsHaveTheirRadius(void **state)
{
    (void)state;
    const dWorldID world = dWorldCreate();
    const dBodyID body = dBodyCreate(world);
    const dGeomID sphere = dCreateSphere(0, 0.5), box = dCreateBox(0, 1, 1, 1), capsule = dCreateCapsule(0, 0.25, 1),
                  loose = dCreateSphere(0, 2);
    dGeomSetBody(sphere, body), dGeomSetBody(box, body), dGeomSetBody(capsule, body);
    CHECK_NEAR(spragCurvatureRadius(body, sphere), 0.5, 0);
    CHECK_NEAR(spragCurvatureRadius(body, capsule), 0.25, 0);
    CHECK_NEAR(spragCurvatureRadius(body, box), 0, 0);
    CHECK_NEAR(spragCurvatureRadius(body, NULL), 0, 0);
    assert_true(isinf(spragCurvatureRadius(NULL, sphere)));
    assert_true(isnan(spragCurvatureRadius(body, loose))); /* not of this body: not to be followed */
    dGeomDestroy(sphere), dGeomDestroy(box), dGeomDestroy(capsule), dGeomDestroy(loose);
    dWorldDestroy(world);
}

/* On what is flat. */
static double sunk(double radius, dGeomID geom, const double point[3], const double n[3], double depth)
{
    spragRim rim;
    return spragCurvatureSunk(radius, geom, point, n, depth, &rim);
}

/* What ODE's colliders name as the point of a contact lies inside round bodies by some of the depth, or all of it. */
static void sunkPointsAreNearerToTheCentre(void **state)
{
    (void)state;
    const dWorldID world = dWorldCreate();
    const dBodyID body = dBodyCreate(world);
    const dGeomID sphere = dCreateSphere(0, 0.5), capsule = dCreateCapsule(0, 0.25, 1), other = dCreateSphere(0, 0.5),
                  floor = dCreateBox(0, 9, 9, 1), box = dCreateBox(0, 1, 1, 1), cylinder = dCreateCylinder(0, 0.25, 1);
    const double up[3] = {0, 0, 1};
    dGeomSetBody(sphere, body), dGeomSetBody(capsule, body), dGeomSetBody(box, body), dGeomSetBody(cylinder, body);
    dGeomSetOffsetPosition(sphere, 0.1, 0, 0.2);
    dBodySetPosition(body, 1, 2, 0.5 + 0.2); /* of the sphere: 1.1 2 0.9 */
    dGeomSetPosition(floor, 0, 0, 0), dGeomSetPosition(other, 1.1, 2, 1.8);
    dContactGeom at;
    assert_int_equal(dCollide(sphere, floor, 1, &at, sizeof at), 1);
    CHECK_NEAR(at.depth, 0.1, 1e-12);
    CHECK_NEAR(sunk(0.5, sphere, (double[3]){at.pos[0], at.pos[1], at.pos[2]}, up, at.depth), 0.4, 1e-12);
    assert_int_equal(dCollide(sphere, other, 1, &at, sizeof at), 1);
    double radius[2] = {0.5, SPRAG_CURVATURE_FLAT};
    const double down[3] = {0, 0, -1};
    spragCurvatureSink(radius, (const dGeomID[2]){sphere, NULL}, (double[3]){at.pos[0], at.pos[1], at.pos[2]}, down,
                       at.depth);
    CHECK_NEAR(radius[0], 0.45, 1e-12);
    /* what lies upon its end, and beside its axis: (1 2 0.7), half an axis of 0.5 */
    CHECK_NEAR(sunk(0.25, capsule, (double[3]){1, 2, 0}, up, 0.1), 0.2, 1e-12);
    CHECK_NEAR(sunk(0.25, capsule, (double[3]){1.2, 2, 0.8}, (double[3]){-1, 0, 0}, 0.1), 0.2, 1e-12);
    /* not to nothing, nor what is not round, nor away from the normal */
    CHECK_NEAR(sunk(0.5, sphere, (double[3]){1.1, 2, 0.9}, up, 3), 0.005, 1e-12);
    CHECK_NEAR(sunk(0, box, (double[3]){1, 2, 0.7}, up, 0.1), 0, 0);
    assert_true(isnan(sunk(SPRAG_CURVATURE_UNKNOWN, NULL, (double[3]){0}, up, 0.1)));
    assert_true(isnan(sunk(0.5, sphere, (double[3]){1.4, 2, 0.5}, up, 0)));
    /* the end of a cylinder is as it was, to the depth */
    CHECK_NEAR(sunk(0.25, cylinder, (double[3]){1, 2.1, 0.2}, up, 0.01), 0.24, 1e-12);
    double both[2] = {0.5, 0.25};
    spragCurvatureSink(both, (const dGeomID[2]){sphere, capsule}, (double[3]){1.1, 2, 0.9}, up, 1);
    CHECK_NEAR(both[0], 0.25, 1e-12);
    dGeomDestroy(box), dGeomDestroy(cylinder), dGeomDestroy(sphere), dGeomDestroy(capsule), dGeomDestroy(other),
        dGeomDestroy(floor);
    dWorldDestroy(world);
}

/* m/s, upwards after the step in which it lands, with the spin w, without ERP or bounce, `sunk` deep in the floor: a
 * ball, or a cylinder that lies; alone, or with a ball on its way down beside it that it touches. */
static double leavesWith(int lies, int beside, double w, double sunk)
{
    const double h = 1.0 / 60, radius = 0.1;
    const dWorldID world = dWorldCreate();
    const dJointGroupID group = dJointGroupCreate(0);
    const dGeomID floor = dCreateBox(0, 9, 9, 1),
                  geom = lies ? dCreateCylinder(0, radius, 0.3) : dCreateSphere(0, radius),
                  second = dCreateSphere(0, radius);
    const dBodyID body[2] = {dBodyCreate(world), dBodyCreate(world)};
    spragWorldID sprag;
    assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
    dWorldSetERP(world, 0);
    dGeomSetPosition(floor, 0, 0, -0.5);
    dGeomSetBody(geom, body[0]), dGeomSetBody(second, body[1]);
    dMatrix3 R;
    dRFromAxisAndAngle(R, 1, 0, 0, 2 * atan(1));
    for (int i = 0; i < 2; ++i) {
        dMass mass;
        dMassSetSphereTotal(&mass, 1, radius);
        dBodySetMass(body[i], &mass);
        dBodySetRotation(body[i], R);
        dBodySetPosition(body[i], 2 * i * radius, 0, radius - sunk);
        dBodySetLinearVel(body[i], 0, 0, -4);
        dBodySetAngularVel(body[i], 0, w, 0);
    }
    const dGeomID pair[3][2] = {{geom, floor}, {second, floor}, {geom, second}};
    for (int i = 0; i < (beside ? 3 : 1); ++i) {
        dContact contact[4];
        memset(contact, 0, sizeof contact);
        const int count = dCollide(pair[i][0], pair[i][1], 4, &contact[0].geom, sizeof contact[0]);
        for (int k = 0; k < count; ++k) {
            contact[k].surface.mode = dContactApprox1;
            contact[k].surface.mu = i < 2 ? 0.5 : 0;
            dJointAttach(spragJointCreateContact(sprag, group, &contact[k]), dGeomGetBody(pair[i][0]),
                         dGeomGetBody(pair[i][1]));
        }
    }
    assert_int_equal(spragWorldStep(sprag, h), SPRAG_OK);
    const double up = dBodyGetLinearVel(body[0])[2];
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dGeomDestroy(geom), dGeomDestroy(second), dGeomDestroy(floor);
    dWorldDestroy(world);
    return up;
}

/* What spins while it falls on a box does not hop from it: it did, at 3.8 m/s. */
static void spinDoesNotBounce(void **state)
{
    (void)state;
    for (int lies = 0; lies < 2; ++lies)
        for (int beside = 0; beside < 2; ++beside)
            for (double sunk = 0.01; sunk < 0.07; sunk += 0.02)
                CHECK_NEAR(leavesWith(lies, beside, 50, sunk), 0, 1e-7);
}

/* Of two boxes the one is flat that has the normal for a face's. */
static void facesAreFlat(void **state)
{
    (void)state;
    const dWorldID world = dWorldCreate();
    const dBodyID body[2] = {dBodyCreate(world), dBodyCreate(world)};
    const dGeomID geom[2] = {dCreateBox(0, 1, 1, 1), dCreateBox(0, 1, 1, 1)};
    dMatrix3 R;
    for (int side = 0; side < 2; ++side)
        dGeomSetBody(geom[side], body[side]);
    dRFromAxisAndAngle(R, 1, 2, 3, 0.7);
    dBodySetRotation(body[1], R);
    dRFromAxisAndAngle(R, 1, -1, 0.5, 1.1);
    dGeomSetOffsetRotation(geom[0], R);
    const dReal *turned[2] = {dGeomGetRotation(geom[0]), dGeomGetRotation(geom[1])};
    const double origin[3] = {0};
    for (int j = 0; j < 3; ++j)
        for (int side = 0; side < 2; ++side) {
            const double n[3] = {-turned[side][j], -turned[side][4 + j], -turned[side][8 + j]};
            double radius[2] = {0, 0};
            spragCurvatureSink(radius, geom, origin, n, 0.1);
            assert_true(isinf(radius[side]) && radius[1 - side] == 0);
        }
    double edges[2] = {0, 0}, faces[2] = {0, 0}, said[2] = {0, 0};
    spragCurvatureSink(edges, geom, origin, (double[3]){0.6, 0.8, 0}, 0.1);
    assert_true(edges[0] == 0 && edges[1] == 0);
    spragCurvatureSink(said, (const dGeomID[2]){geom[0], NULL}, origin, (double[3]){1, 0, 0}, 0.1);
    assert_true(said[0] == 0 && said[1] == 0);
    dRSetIdentity(R);
    dGeomSetOffsetRotation(geom[0], R), dBodySetRotation(body[1], R);
    spragCurvatureSink(faces, geom, origin, (double[3]){0, 1, 0}, 0.1); /* which one has the corner is not known */
    assert_true(faces[0] == 0 && faces[1] == 0);
    dGeomDestroy(geom[0]), dGeomDestroy(geom[1]);
    dWorldDestroy(world);
}

/* An end of a cylinder is flat to what is on it, but for a face of a box; of two ends the larger one. */
static void endsAreFlat(void **state)
{
    (void)state;
    const dWorldID world = dWorldCreate();
    const dBodyID body[2] = {dBodyCreate(world), dBodyCreate(world)};
    const dGeomID cylinder = dCreateCylinder(0, 0.4, 1), ball = dCreateSphere(0, 0.1), box = dCreateBox(0, 1, 1, 1),
                  other = dCreateCylinder(0, 0.3, 1);
    const dGeomID on[] = {ball, box, other, other};
    dMatrix3 R;
    dRFromAxisAndAngle(R, 1, 2, 3, 0.7);
    dBodySetRotation(body[0], R);
    dRFromAxisAndAngle(R, 1, -1, 0.5, 1.1);
    dGeomSetBody(cylinder, body[0]);
    dGeomSetOffsetRotation(cylinder, R);
    const dReal *turned = dGeomGetRotation(cylinder);
    const double axis[3] = {turned[2], turned[6], turned[10]}, up[3] = {-axis[0], -axis[1], -axis[2]},
                 side[3] = {turned[0], turned[4], turned[8]};
    for (int k = 0; k < 4; ++k) {
        const double own = spragCurvatureOwn(on[k]);
        dGeomSetBody(on[k], body[1]);
        dBodySetPosition(body[1], 0.1 * axis[0], 0.1 * axis[1], 0.1 * axis[2]); /* the ball's centre */
        if (k == 3) /* lies along the other: its end is on that one's */
            dBodySetRotation(body[1], turned);
        double end[2] = {0.4, own}, swapped[2] = {own, 0.4}, across[2] = {0.4, own};
        spragCurvatureSink(end, (const dGeomID[2]){cylinder, on[k]}, (double[3]){0}, up, 0);
        spragCurvatureSink(swapped, (const dGeomID[2]){on[k], cylinder}, (double[3]){0}, axis, 0);
        assert_true(isinf(end[0]) && isinf(swapped[1]) && isfinite(end[1]) && isfinite(swapped[0]));
        spragCurvatureSink(across, (const dGeomID[2]){cylinder, on[k]}, (double[3]){0}, side, 0);
        assert_true(isfinite(across[0]));
        dGeomSetBody(on[k], 0);
    }
    double face[2] = {0.4, 0}, floor[2] = {0.4, SPRAG_CURVATURE_FLAT};
    dGeomSetBody(box, body[1]); /* which lies along the cylinder */
    spragCurvatureSink(face, (const dGeomID[2]){cylinder, box}, (double[3]){0}, up, 0);
    spragCurvatureSink(floor, (const dGeomID[2]){cylinder, NULL}, (double[3]){0}, up, 0);
    assert_true(isfinite(face[0]) && face[1] == 0 && isfinite(floor[0]) && isinf(floor[1]));
    dGeomDestroy(cylinder), dGeomDestroy(ball), dGeomDestroy(box), dGeomDestroy(other);
    dWorldDestroy(world);
}

/* Two pipes whose axes lie along each other in the contact's plane, but lean out of it, one up and one down, are
 * parallel: there the contact's point would have any speed. */
static void pipesThatLeanAreParallel(void **state)
{
    (void)state;
    const dWorldID world = dWorldCreate();
    const double n[3] = {0, 0, 1}, point[3] = {0, 0, 0};
    spragBodyState body[2] = {{.velocity = {1, 2, 0, 1, 1, 1}}, {.velocity = {0, -1, 0, -1, 1, 2}}};
    for (int k = 0; k <= 10; ++k) {
        dGeomID geom[2];
        spragCurvature curvature = {.radius = {0.1, 0.1}};
        double out[3], rest[3];
        for (int side = 0; side < 2; ++side) {
            const double lean = side == 0 ? 0.095 : -0.095, turn = side == 0 ? 0 : 0.01 * k;
            dMatrix3 R;
            body[side].id = dBodyCreate(world);
            geom[side] = dCreateCapsule(0, 0.1, 2);
            dRFromZAxis(R, cos(turn), sin(turn), lean);
            dGeomSetBody(geom[side], body[side].id);
            dBodySetRotation(body[side].id, R);
            body[side].position[2] = side == 0 ? 0.1 : -0.1;
            dBodySetPosition(body[side].id, 0, 0, body[side].position[2]);
        }
        spragCurvatureFind(&curvature, geom, point, n, 0);
        assert_int_equal(curvature.has_axis, 1);
        assert_true((spragNorm3(curvature.axis[0]) > 0) != (spragNorm3(curvature.axis[1]) > 0));
        const spragCurvedContact contact = {
            (const spragBodyState *[2]){body, body + 1}, &curvature, n, point, NULL, NAN, 0};
        assert_true(fabs(spragFaceProduct(&contact, 0.01, out, rest)) < 100 && spragNorm3(out) < 100);
        for (int side = 0; side < 2; ++side)
            dGeomDestroy(geom[side]);
    }
    dWorldDestroy(world);
}

/* A box that is thrown with spin, and bounces, on a floor; out: where it is a second later, 60 steps. */
static void throwOn(int kinematic, int number, double out[3])
{
    unsigned long long own = (unsigned long long)number + 5;
    const dWorldID world = dWorldCreate();
    const dJointGroupID group = dJointGroupCreate(0);
    const dGeomID floor = dCreateBox(0, 40, 40, 1), geom = dCreateBox(0, 0.3, 0.4, 0.5);
    const dBodyID body = dBodyCreate(world), under = dBodyCreate(world);
    spragWorldID sprag;
    assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
    dWorldSetGravity(world, 0, 0, -9.81);
    dBodySetKinematic(under);
    if (kinematic)
        dGeomSetBody(floor, under);
    dGeomSetPosition(floor, 0, 0, -0.5);
    dGeomSetBody(geom, body);
    dMass mass;
    dMassSetBoxTotal(&mass, 1, 0.3, 0.4, 0.5);
    dBodySetMass(body, &mass);
    dMatrix3 R;
    dRFromAxisAndAngle(R, uniform(&own), uniform(&own), uniform(&own), 3);
    dBodySetRotation(body, R);
    dBodySetPosition(body, 0, 0, 1);
    dBodySetLinearVel(body, uniform(&own), uniform(&own), -4);
    dBodySetAngularVel(body, 20 * uniform(&own), 20 * uniform(&own), 20 * uniform(&own));
    for (int k = 0; k < 60; ++k) {
        dContact contact[8];
        memset(contact, 0, sizeof contact);
        const int count = dCollide(geom, floor, 8, &contact[0].geom, sizeof contact[0]);
        for (int i = 0; i < count; ++i) {
            contact[i].surface.mode = dContactApprox1 | dContactBounce;
            contact[i].surface.mu = 0.5;
            contact[i].surface.bounce = 0.9;
            dJointAttach(spragJointCreateContact(sprag, group, &contact[i]), body, kinematic ? under : 0);
        }
        assert_int_equal(spragWorldStep(sprag, 1.0 / 60), SPRAG_OK);
        dJointGroupEmpty(group);
    }
    for (int i = 0; i < 3; ++i)
        out[i] = dBodyGetPosition(body)[i];
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dGeomDestroy(geom), dGeomDestroy(floor);
    dWorldDestroy(world);
}

/* A lift that stands is a floor.  (Boxes that bounced on it had up to 2.7 times their energy.) */
static void liftThatStandsIsAFloor(void **state)
{
    (void)state;
    for (int number = 0; number < 20; ++number) {
        double floor[3], lift[3];
        throwOn(0, number, floor);
        throwOn(1, number, lift);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(lift[i], floor[i], 1e-6);
    }
}

/* Contacts beside each other may name the same two balls, and be of other bodies: every second one lets the upper ball
 * be held as if by the world.  (Each was asked where the other's bodies are.) */
static void sameGeomsOfOtherBodies(void **state)
{
    (void)state;
    enum { PAIRS = 60 };
    dBodyID body[2 * PAIRS];
    const dWorldID world = dWorldCreate();
    const dSpaceID space = dSimpleSpaceCreate(NULL);
    const dJointGroupID group = dJointGroupCreate(0);
    spragConfig config = spragConfigDefault();
    spragWorldID sprag;
    config.tolerance = 1e-4; /* without blocks: ode/islands/bare.c */
    dWorldSetGravity(world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(world, &config, &sprag), SPRAG_OK);
    for (int i = 0; i < 2 * PAIRS; ++i) {
        body[i] = dBodyCreate(world);
        dBodySetPosition(body[i], 0.5 * (i - i % 2), 0, 0.5 + i % 2);
        dGeomSetBody(dCreateSphere(space, 0.5), body[i]);
    }
    for (int step = 0; step < 3; ++step) {
        for (int i = 0; i < 2 * PAIRS; i += 2) {
            dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}};
            contact.geom.pos[0] = 0.5 * i, contact.geom.pos[2] = 1, contact.geom.normal[2] = 1;
            contact.geom.g1 = dBodyGetFirstGeom(body[i + 1]), contact.geom.g2 = dBodyGetFirstGeom(body[i]);
            for (int k = 0; k < 2; ++k)
                dJointAttach(spragJointCreateContact(sprag, group, &contact), body[i + 1], k == 0 ? body[i] : NULL);
            contact.geom.pos[2] = 0;
            dJointAttach(spragJointCreateContact(sprag, group, &contact), body[i], NULL);
            if (i == 0)
                continue;
            contact.geom.pos[0] -= 0.5, contact.geom.pos[2] = 0.5;
            contact.geom.normal[0] = 1, contact.geom.normal[2] = 0;
            dJointAttach(spragJointCreateContact(sprag, group, &contact), body[i], body[i - 2]);
        }
        assert_int_equal(spragWorldStep(sprag, 0.01), SPRAG_OK);
        dJointGroupEmpty(group);
    }
    for (int i = 0; i < 2 * PAIRS; ++i)
        CHECK_NEAR(dBodyGetLinearVel(body[i])[2], 0, 1e-3);
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dSpaceDestroy(space);
    dWorldDestroy(world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(normalPartIsTheGaps),
                                       cmocka_unit_test(swappedBodiesHaveTheOpposite),
                                       cmocka_unit_test(rollingHasNone),
                                       cmocka_unit_test(unknownSurfacesHaveNone),
                                       cmocka_unit_test(stepsHaveThatOfTheFace),
                                       cmocka_unit_test(whatDoesNotTurnIsAFloor),
                                       cmocka_unit_test(energyIsAsTheDrivenBodySeesIt),
                                       cmocka_unit_test(twoAtOnePointAreAsOne),
                                       cmocka_unit_test(geomsHaveTheirRadius),
                                       cmocka_unit_test(sunkPointsAreNearerToTheCentre),
                                       cmocka_unit_test(spinDoesNotBounce),
                                       cmocka_unit_test(facesAreFlat),
                                       cmocka_unit_test(endsAreFlat),
                                       cmocka_unit_test(pipesAreStraight),
                                       cmocka_unit_test(pipesThatLeanAreParallel),
                                       cmocka_unit_test(rimsAreCircles),
                                       cmocka_unit_test(rimsGoByHalves),
                                       cmocka_unit_test(twoPointsOfARimAreOne),
                                       cmocka_unit_test(aRimTurnsByAStep),
                                       cmocka_unit_test(whatLiesHasNoRim),
                                       cmocka_unit_test(liftThatStandsIsAFloor),
                                       cmocka_unit_test(sameGeomsOfOtherBodies)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
