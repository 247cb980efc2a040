#include "ode/work/fall.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/work/heap.h"

/* Times the velocity that gravity gives in a step: so fast are more than half of the bodies of a pile that falls.  (Of
 * dominoes 0.3 to 0.5 are.) */
#define FALLING 0.25
#define LITTLE 1e-9       /* of moments of inertia: less is none */
enum { MECHANISMS = 4 };  /* of a heap of them */
#define SPARSE 2          /* contacts a body of such a heap (ragdolls: 0.3 to 1); what stands on four points has more */
#define SHARE_JOINTED 0.9 /* of the bodies of a heap of mechanisms */

/* m^2/s^2, of the bodies' velocities about their mean: heaps may travel together. */
static double meanSquare(const spragSnapshot *s, const spragIsland *island)
{
    const double n = island->body_count;
    double sum[3] = {0, 0, 0}, squares = 0;
    for (int i = 0; i < island->body_count; ++i) {
        const double *v = s->body[island->body[i]].velocity;
        for (int k = 0; k < 3; ++k)
            sum[k] += v[k];
        squares += spragDot3(v, v);
    }
    return (squares - spragDot3(sum, sum) / n) / n;
}

/* 1: they are no faster than so many times the velocity that gravity gives in a step. */
int spragIslandIsSlow(const spragSnapshot *s, const spragIsland *island, double times)
{
    const double most = times * spragNorm3(s->gravity) * s->step;
    return meanSquare(s, island) <= most * most;
}

/* 1: and all but rest. */
int spragIslandMayRest(const spragSnapshot *s, const spragIsland *island)
{
    return island->pile.flat && spragIslandIsSlow(s, island, SPRAG_SLOW);
}

/* The rigid motion nearest to that of the bodies' centres: mean velocity v at their mean x, and turning w with
 * A w = sum d x (v_i - v), A = sum (|d|^2 - d d^T), d = x_i - x. */
typedef struct Rigid {
    double x[3], v[3], w[3];
} Rigid;

static Rigid rigidOf(const spragSnapshot *s, const spragIsland *island)
{
    Rigid rigid = {{0}, {0}, {0}};
    double A[9] = {0}, inverse[9], sum[3] = {0};
    for (int i = 0; i < island->body_count; ++i)
        for (int k = 0; k < 3; ++k) {
            rigid.x[k] += s->body[island->body[i]].position[k] / island->body_count;
            rigid.v[k] += s->body[island->body[i]].velocity[k] / island->body_count;
        }
    for (int i = 0; i < island->body_count; ++i) {
        const spragBodyState *body = &s->body[island->body[i]];
        double d[3], v[3], moment[3];
        for (int k = 0; k < 3; ++k) {
            d[k] = body->position[k] - rigid.x[k];
            v[k] = body->velocity[k] - rigid.v[k];
        }
        spragCross3(moment, d, v);
        for (int k = 0; k < 9; ++k)
            A[k] += (k % 4 == 0 ? spragDot3(d, d) : 0) - d[k / 3] * d[k % 3];
        for (int k = 0; k < 3; ++k)
            sum[k] += moment[k];
    }
    const double little = LITTLE * (A[0] + A[4] + A[8]); /* a column may turn about itself */
    for (int k = 0; k < 9; k += 4)
        A[k] += little;
    if (spragInverse33(inverse, A))
        spragMul33(rigid.w, inverse, sum);
    return rigid;
}

/* 1: more than half of the bodies move, in the world and against the rigid motion nearest to theirs: what stands on a
 * turntable or on a ship that rolls, or flies as a whole, does not fall apart. */
static int mostMove(const spragSnapshot *s, const spragIsland *island)
{
    const double slow = FALLING * spragNorm3(s->gravity) * s->step;
    const Rigid rigid = rigidOf(s, island);
    int moving = 0;
    for (int i = 0; i < island->body_count; ++i) {
        const spragBodyState *body = &s->body[island->body[i]];
        double d[3], turned[3];
        for (int k = 0; k < 3; ++k)
            d[k] = body->position[k] - rigid.x[k];
        spragCross3(turned, rigid.w, d);
        for (int k = 0; k < 3; ++k)
            d[k] = body->velocity[k] - rigid.v[k] - turned[k];
        moving += fmin(spragDot3(body->velocity, body->velocity), spragDot3(d, d)) > slow * slow;
    }
    return 2 * moving > island->body_count;
}

int spragIslandFalls(const struct spragWorld *world, const spragIsland *island)
{
    return spragIslandIsOurs(world, island) && !island->pile.sticks && island->contact_count == island->joint_count &&
           !island->pile.flat && world->snapshot.active_count > SPRAG_LARGE && mostMove(&world->snapshot, island);
}

/* 1: all but a tenth of its bodies belong to mechanisms, of which there are several. */
static int isOfMechanisms(const spragSnapshot *s, const spragIsland *island)
{
    int count = 0;
    for (int i = 0; i < island->body_count; ++i)
        count += s->body[island->body[i]].articulation >= 0;
    return island->articulation_count >= MECHANISMS && count >= SHARE_JOINTED * island->body_count;
}

int spragIslandTumbles(const struct spragWorld *world, const spragIsland *island)
{
    return spragIslandIsOurs(world, island) && !island->pile.sticks && island->contact_count <= SPRAG_LARGE &&
           island->contact_count < SPARSE * island->body_count && isOfMechanisms(&world->snapshot, island) &&
           !spragIslandIsSlow(&world->snapshot, island, SPRAG_STILL);
}
