/* The next guess is the mixture of guess and answer that accelerates the bodies least, by its kinetic energy. */
#include "support/check.h"
#include "support/uniform.h"

#include <string.h>

#include "linalg/vec3.h"
#include "ode/islands/echo.h"
#include "ode/rows/rows.h"
#include "ode/world/world.h"

#define STEP 0.01 /* s */
enum { BODIES = 2, CONTACTS = 3 };

/* Two bodies, one on the world and one on it: contacts world-0, world-0, 0-1. */
typedef struct Pile {
    spragBodyState body[BODIES];
    spragGreedyContact contact[CONTACTS];
    int pair[CONTACTS][2];
    spragBlock block[CONTACTS];
    int number[BODIES], joint[CONTACTS];
    double r[3 * CONTACTS]; /* the answer */
    spragLane lane;
    spragIsland island;
    spragBare bare;
    struct spragWorld world;
} Pile;

static void makePile(Pile *pile, unsigned long long *seed)
{
    memset(pile, 0, sizeof *pile);
    for (int i = 0; i < BODIES; ++i) {
        spragBodyState *b = &pile->body[i];
        pile->number[i] = i;
        b->inverse_mass = 0.5 + i;
        for (int a = 0; a < 3; ++a)
            b->inverse_inertia[4 * a] = 2 + a + i;
        for (int a = 0; a < 6; ++a)
            b->velocity[a] = 0.1 * uniform(seed), b->free_velocity[a] = b->velocity[a] + 0.1 * uniform(seed);
    }
    for (int k = 0; k < CONTACTS; ++k) {
        spragGreedyContact *c = &pile->contact[k];
        pile->joint[k] = pile->block[k].joint = 5 + 2 * k;
        for (int i = 0; i < 3; ++i)
            c->direction[i][i] = 1;
        for (int i = 0; i < 3; ++i)
            c->r[i] = uniform(seed), pile->r[3 * k + i] = uniform(seed);
        for (int side = 0; side < 2; ++side)
            for (int a = 0; a < 3; ++a)
                c->arm[side][a] = 0.3 * uniform(seed);
        pile->pair[k][0] = k == 2, pile->pair[k][1] = k == 2 ? 0 : BODIES;
    }
    pile->island = (spragIsland){.body = pile->number,
                                 .body_count = BODIES,
                                 .joint = pile->joint,
                                 .joint_count = CONTACTS,
                                 .block = pile->block,
                                 .block_count = CONTACTS,
                                 .block_total = CONTACTS,
                                 .r = pile->r,
                                 .lane = &pile->lane};
    pile->bare.greedy.contact = pile->contact;
    pile->bare.greedy.pair = pile->pair;
    pile->world.snapshot.body = pile->body;
    pile->world.snapshot.step = STEP;
}

/* impulse (BODIES x 6) += J^T f, f (CONTACTS x 3) in world axes. */
static void addImpulses(const Pile *pile, const double *f, double impulse[BODIES][6])
{
    for (int k = 0; k < CONTACTS; ++k)
        for (int side = 0; side < 2; ++side) {
            const spragGreedyContact *c = &pile->contact[k];
            double turn[3];
            spragCross3(turn, c->arm[side], f + 3 * k);
            for (int a = 0; a < 3 && pile->pair[k][side] < BODIES; ++a) {
                impulse[pile->pair[k][side]][a] += (side == 0 ? 1 : -1) * f[3 * k + a];
                impulse[pile->pair[k][side]][3 + a] += (side == 0 ? 1 : -1) * turn[a];
            }
        }
}

/* Twice the kinetic energy of what f does to the velocities in the step. */
static double energyOf(const Pile *pile, const double *f)
{
    double impulse[BODIES][6] = {{0}}, sum = 0;
    addImpulses(pile, f, impulse);
    for (int i = 0; i < BODIES; ++i)
        for (int a = 0; a < 6; ++a) {
            const spragBodyState *b = &pile->body[i];
            const double inverse = a < 3 ? b->inverse_mass : b->inverse_inertia[4 * (a - 3)];
            const double change = b->free_velocity[a] - b->velocity[a] + inverse * impulse[i][a];
            sum += change * change / inverse;
        }
    return sum;
}

static void mix(const Pile *pile, double t, double f[3 * CONTACTS])
{
    for (int k = 0; k < CONTACTS; ++k)
        for (int i = 0; i < 3; ++i)
            f[3 * k + i] = pile->r[3 * k + i] + t * (pile->contact[k].r[i] - pile->r[3 * k + i]);
}

static void theLeastAccelerationIsFound(void **state)
{
    (void)state;
    unsigned long long seed = 7;
    int mixed = 0;
    for (int round = 0; round < 200; ++round) {
        static Pile pile;
        makePile(&pile, &seed);
        double impulse[BODIES][6] = {{0}}, f[3 * CONTACTS];
        addImpulses(&pile, pile.r, impulse);
        for (int i = 0; i < BODIES; ++i)
            memcpy(pile.body[i].impulse, impulse[i], sizeof impulse[i]);
        spragEchoFind(&pile.world, &pile.bare, &pile.island);
        for (int k = 0; k < CONTACTS; ++k)
            for (int i = 0; i < 3; ++i)
                f[3 * k + i] = pile.r[3 * k + i] + (pile.island.echo == NULL ? 0 : STEP * pile.island.echo[k][i]);
        const double least = energyOf(&pile, f);
        for (int i = 0; i <= 50; ++i) {
            double other[3 * CONTACTS];
            mix(&pile, i / 50.0, other);
            assert_true(least <= energyOf(&pile, other) * (1 + 1e-12));
        }
        mixed += pile.island.echo != NULL;
        spragArenaFree(&pile.lane.arena);
    }
    assert_in_range(mixed, 20, 199); /* both happen */
}

static void anAnswerThatIsTheGuessHasNone(void **state)
{
    (void)state;
    unsigned long long seed = 3;
    static Pile pile;
    makePile(&pile, &seed);
    for (int k = 0; k < CONTACTS; ++k)
        memcpy(pile.contact[k].r, pile.r + 3 * k, 3 * sizeof *pile.r);
    spragEchoFind(&pile.world, &pile.bare, &pile.island);
    assert_null(pile.island.echo);
    spragArenaFree(&pile.lane.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(theLeastAccelerationIsFound),
                                       cmocka_unit_test(anAnswerThatIsTheGuessHasNone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
