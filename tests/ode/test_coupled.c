/* Contacts that slide together: the class a step reports, and the solution it takes, are those of the whole set of
 * solutions of the same instant (spragParadoxEnumerate on the dumped problem), on random bodies with two and three
 * contacts, one- and two-sided. */
#include <stdlib.h>
#include <unistd.h>

#include "support/states.h"
#include "support/twin.h"

static unsigned long long seed = 31;

static double uniform(void)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return 2 * ((double)(seed >> 11) * 0x1p-53) - 1;
}

/* One by one: in which order a call evaluates its arguments is the compiler's. */
static void uniforms(int count, double *x)
{
    for (int i = 0; i < count; ++i)
        x[i] = uniform();
}

/* One body over the plane z = 0 with feet at random places of it, sliding without turning; guides or contacts. */
static void makeBody(Twin *t, int feet, double mu_scale)
{
    dMass mass;
    double inertia[3], velocity[2], force[3], torque[3], height = uniform();
    uniforms(3, inertia), uniforms(2, velocity), uniforms(3, force), uniforms(3, torque);
    dMassSetParameters(&mass, 1, 0, 0, 0, 1 + 0.9 * inertia[0], 1 + 0.9 * inertia[1], 1 + 0.9 * inertia[2], 0, 0, 0);
    const dBodyID body = t->body[t->count++] = dBodyCreate(t->world);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0, 0, 1.5 + height);
    dBodySetLinearVel(body, velocity[0], velocity[1], 0);
    dBodyAddForce(body, 5 * force[0], 5 * force[1], 15 * force[2]);
    dBodyAddTorque(body, 5 * torque[0], 5 * torque[1], 5 * torque[2]);
    for (int k = 0; k < feet; ++k) {
        const double x = 2 * uniform(), y = 2 * uniform(), mu = mu_scale * (1 + uniform());
        if (uniform() > 0) {
            spragGuideDef def = spragGuideDefDefault();
            spragGuideID guide = NULL;
            def.body = body;
            def.point[0] = x, def.point[1] = y;
            def.normal[2] = 1;
            def.mu[0] = def.mu[1] = mu;
            assert_int_equal(spragGuideCreate(t->sprag, &def, &guide), SPRAG_OK);
        } else {
            dContact contact = {.surface = {.mode = dContactApprox1, .mu = mu}};
            contact.geom.pos[0] = x, contact.geom.pos[1] = y;
            contact.geom.normal[2] = 1;
            dJointAttach(spragJointCreateContact(t->sprag, t->group, &contact), body, NULL);
        }
    }
}

/* The instant before the step, from the dumped problem. */
static void readInstant(const spragProblem *p, double h, State *s)
{
    begin(s, p->contact_count);
    const int n = 3 * p->contact_count;
    for (int k = 0; k < p->contact_count; ++k) {
        s->two_sided[k] = p->kind != NULL && p->kind[k] == SPRAG_BLOCK_TWO_SIDED;
        s->mu[k] = p->mu[k];
        memcpy(s->slip + 2 * k, p->history[k].slip, 2 * sizeof(double));
        for (int i = 0; i < 3; ++i)
            s->b[3 * k + i] = (p->q[3 * k + i] - (i > 0 ? s->slip[2 * k + i - 1] : 0)) / h;
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    s->A[n * (3 * k + i) + 3 * p->column[e] + j] = p->W[9 * e + 3 * i + j];
    }
}

/* The step's contacts against a solution at acceleration level: sides, and forces to O(h).  Both lists are in the order
 * of creation. */
static int isTaken(const spragParadoxSolution *solution, const spragContact *contact, int contacts)
{
    double size = 1;
    for (int k = 0; k < contacts; ++k)
        size = fmax(size, fabs(solution->r[3 * k]));
    for (int k = 0; k < contacts; ++k)
        if (contact[k].variant != solution->variant[k] ||
            fabs(contact[k].normal_force - solution->r[3 * k]) > 0.01 * size)
            return 0;
    return 1;
}

/* Close to a fold the forces are large and turn the slip within the step: what they solve then is the instant with the
 * slip at the end of it, which friction opposes in the step.  Where they stop one it is no instant's. */
static int isTakenWithSlipAtTheEnd(State *s, const spragContact *contact, int contacts)
{
    int taken = 0;
    for (int k = 0; k < contacts; ++k) {
        if (contact[k].mode == SPRAG_MODE_STICK)
            return fabs(contact[k].normal_force) > 1e4;
        const double *n = contact[k].normal;
        dVector3 t1, t2;
        dPlaneSpace((dVector3){n[0], n[1], n[2]}, t1, t2);
        s->slip[2 * k] = dCalcVectorDot3(contact[k].slip, t1);
        s->slip[2 * k + 1] = dCalcVectorDot3(contact[k].slip, t2);
    }
    spragSolutionSet set;
    assert_int_equal(spragParadoxEnumerate(&s->state, &set), SPRAG_OK);
    for (int k = 0; k < set.count; ++k)
        taken |= isTaken(&set.solution[k], contact, contacts);
    spragSolutionSetFree(&set);
    return taken;
}

/* Is the dumped problem that of the instant before?  One in which contacts yield is not, nor one solved again after a
 * jam (plugin/ode/rows/blow.h). */
static int isOfInstant(const State *s, const spragContact *contact, int contacts)
{
    for (int k = 0; k < contacts; ++k)
        if (fabs(s->b[3 * k] - contact[k].free_acceleration) > 1e-6)
            return 0;
    return 1;
}

static double greatestForce(const spragContact *contact, int contacts)
{
    double greatest = 0;
    for (int k = 0; k < contacts; ++k)
        greatest = fmax(greatest, fabs(contact[k].normal_force));
    return greatest;
}

/* Of the last step. */
static spragProblem *problemOf(const Twin *t)
{
    spragProblem *problem = NULL;
    char path[] = "/tmp/sprag-coupled-XXXXXX"; /* mkstemp's */
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(spragWorldDumpProblem(t->sprag, path), SPRAG_OK);
    assert_int_equal(spragProblemRead(path, &problem), SPRAG_OK);
    unlink(path);
    return problem;
}

/* The motions of the instant before the last step. */
static void enumerate(const Twin *t, double h, State *s, spragSolutionSet *set)
{
    spragProblem *problem = problemOf(t);
    readInstant(problem, h, s);
    spragProblemFree(problem);
    assert_int_equal(spragParadoxEnumerate(&s->state, set), SPRAG_OK);
}

static void openTwin(Twin *t)
{
    makeTwin(t, 1);
    dWorldSetCFM(t->world, 0);
}

static void theClassIsThatOfTheSet(void **state)
{
    (void)state;
    static const double h = 1e-6;
    int seen[5] = {0};
    for (int round = 0; round < 1000; ++round) {
        Twin t;
        State s;
        spragSolutionSet set;
        openTwin(&t);
        makeBody(&t, 2 + round % 2, round % 4 < 2 ? 0.3 : 1.5);
        assert_int_equal(spragWorldStep(t.sprag, h), SPRAG_OK);
        enumerate(&t, h, &s, &set);
        assert_false(set.incomplete);
        const spragContact *contact = NULL;
        const spragEvent *event = NULL;
        const int contacts = spragWorldGetContacts(t.sprag, &contact), events = spragWorldGetEvents(t.sprag, &event);
        int inconsistent = 0, indeterminate = 0;
        for (int k = 0; k < events; ++k) {
            inconsistent |= event[k].type == SPRAG_EVENT_INCONSISTENT;
            indeterminate |= event[k].type == SPRAG_EVENT_INDETERMINATE;
        }
        const int known = contacts > 0 && isOfInstant(&s, contact, contacts);
        const int class = known ? set.paradox_class : contact[0].paradox_class;
        for (int k = 0; k < contacts; ++k)
            assert_int_equal(contact[k].paradox_class, class);
        assert_int_equal(inconsistent, class == 1 || class == 2);
        if (!known) /* what was solved again is a jam, or slides where no motion was */
            assert_true(greatestForce(contact, contacts) > 1e3);
        if (class < 3) /* of contacts that leave at once nothing is told */
            assert_false(indeterminate);
        int taken = !known || inconsistent; /* there is none to take */
        for (int k = 0; k < set.count; ++k)
            if (set.solution[k].taken)
                taken |= isTaken(&set.solution[k], contact, contacts);
        if (!taken && !isTakenWithSlipAtTheEnd(&s, contact, contacts))
            fail_msg("round %d, class %d: the step took another solution", round, set.paradox_class);
        ++seen[class];
        spragSolutionSetFree(&set);
        freeTwin(&t);
    }
    print_message("classes 0 to 4: %d %d %d %d %d\n", seen[0], seen[1], seen[2], seen[3], seen[4]);
    assert_true(seen[0] > 100 && seen[1] > 5 && seen[3] > 5);
}

/* A step where part of the contacts rests: it says that there is no motion where the whole set is empty.  Counts those
 * without a motion, and those with one. */
static void stepAndCompare(const Twin *t, double h, int counted[2])
{
    assert_int_equal(spragWorldStep(t->sprag, h), SPRAG_OK);
    State s;
    spragSolutionSet set;
    const spragEvent *event = NULL;
    enumerate(t, h, &s, &set);
    int inconsistent = 0;
    for (int k = spragWorldGetEvents(t->sprag, &event) - 1; k >= 0; --k)
        inconsistent |= event[k].type == SPRAG_EVENT_INCONSISTENT && event[k].paradox_class == 1;
    if (set.count == 0 || set.paradox_class == 0)
        assert_int_equal(inconsistent, set.count == 0);
    counted[0] += set.count == 0;
    counted[1] += set.paradox_class == 0;
    spragSolutionSetFree(&set);
}

/* A body that turns about one of its feet: that rests, the others slide.  Where no motion is left the step says so. */
static void wherePartOfThemRests(void **state)
{
    (void)state;
    static const double h = 1e-6;
    int counted[2] = {0};
    for (int round = 0; round < 600; ++round) {
        Twin t;
        openTwin(&t);
        makeBody(&t, 2 + round % 2, 1.5);
        const spragContact *contact = NULL;
        dBodySetLinearVel(t.body[0], 0, 0, 0);
        const dReal *f = dBodyGetForce(t.body[0]), *m = dBodyGetTorque(t.body[0]);
        const double force[3] = {f[0], f[1], f[2]}, torque[3] = {m[0], m[1], m[2]};
        assert_int_equal(spragWorldStep(t.sprag, 1e-12), SPRAG_OK); /* where the feet are */
        assert_true(spragWorldGetContacts(t.sprag, &contact) >= 2);
        const double w = 1 + fabs(uniform()), *foot = contact[0].position;
        dBodySetLinearVel(t.body[0], w * foot[1], -w * foot[0], 0);
        dBodySetAngularVel(t.body[0], 0, 0, w);
        dBodyAddForce(t.body[0], force[0], force[1], force[2]);
        dBodyAddTorque(t.body[0], torque[0], torque[1], torque[2]);
        stepAndCompare(&t, h, counted);
        freeTwin(&t);
    }
    print_message("%d states without a motion, %d with one\n", counted[0], counted[1]);
    assert_true(counted[0] > 5 && counted[1] > 300);
}

/* A body slides on its foot and on another one, which stands on a foot of its own: the two feet have no body in common,
 * and W no block for them. */
static void whereOneSlidesOnAnother(void **state)
{
    (void)state;
    static const double h = 1e-6;
    int counted[2] = {0};
    for (int round = 0; round < 600; ++round) {
        Twin t;
        openTwin(&t);
        makeBody(&t, 0, 0);
        makeBody(&t, 0, 0);
        dBodySetLinearVel(t.body[1], 0, 0, 0);
        static const int bodies[3][2] = {{0, -1}, {0, 1}, {1, -1}};
        for (int k = 0; k < 3; ++k) {
            double at[2];
            uniforms(2, at);
            const dContact contact = planeContact(2 * at[0], 2 * at[1], k == 1 ? 0.5 : 0, 1.5 * (1 + uniform()));
            addContact(&t, &contact, t.body[bodies[k][0]], bodies[k][1] < 0 ? 0 : t.body[bodies[k][1]]);
        }
        stepAndCompare(&t, h, counted);
        freeTwin(&t);
    }
    print_message("%d states without a motion, %d with one\n", counted[0], counted[1]);
    assert_true(counted[0] > 5 && counted[1] > 100);
}

/* A rod's tip that slides, with as many contacts at the same place, each of all its friction; events of the step. */
static void slideOn(int copies, double cfm, double mu, double b, int counted[SPRAG_EVENT_TYPE_COUNT], double after[2])
{
    Twin t;
    makeTwin(&t, 1);
    dWorldSetCFM(t.world, cfm);
    dWorldSetGravity(t.world, 0, 0, b);
    dMass mass;
    dMassSetParameters(&mass, 1, 0, 0, 0, 1. / 3, 1. / 3, 1. / 3, 0, 0, 0);
    const dBodyID body = t.body[t.count++] = dBodyCreate(t.world);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0.5, 0, 0.8);
    dBodySetLinearVel(body, -1, 0, 0);
    const dContact contact = planeContact(0, 0, 0, mu);
    for (int k = 0; k < copies; ++k)
        addContact(&t, &contact, body, 0);
    step(&t, 1e-4);
    for (int type = 0; type < SPRAG_EVENT_TYPE_COUNT; ++type)
        counted[type] = countEvents(&t, (spragEventType)type);
    after[0] = dBodyGetLinearVel(body)[0], after[1] = dBodyGetAngularVel(body)[1];
    freeTwin(&t);
}

/* Contacts that share a load as they like are one motion, and its paradoxes are told of each of them. */
static void contactsAtOnePlaceAreOne(void **state)
{
    (void)state;
    const double mu[] = {0.5, 0.5, 4, 4}, b[] = {-9.81, 2, -9.81, 2};
    int told = 0;
    for (int n = 0; n < 8; ++n) {
        const double cfm = n < 4 ? 0 : 1e-11;
        int one[SPRAG_EVENT_TYPE_COUNT], more[SPRAG_EVENT_TYPE_COUNT];
        double alone[2], together[2];
        slideOn(1, cfm, mu[n % 4], b[n % 4], one, alone);
        for (int copies = 2; copies <= 3; ++copies) {
            slideOn(copies, cfm, mu[n % 4], b[n % 4], more, together);
            CHECK_NEAR(together[0], alone[0], n < 4 ? 1e-9 : 1e-6);
            CHECK_NEAR(together[1], alone[1], n < 4 ? 1e-9 : 1e-6);
            for (int type = SPRAG_EVENT_JAM; type <= SPRAG_EVENT_INCONSISTENT; ++type)
                assert_int_equal(more[type], copies * one[type]);
        }
        told += one[SPRAG_EVENT_INCONSISTENT] + 10 * one[SPRAG_EVENT_INDETERMINATE];
    }
    assert_int_equal(told, 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(theClassIsThatOfTheSet), cmocka_unit_test(wherePartOfThemRests),
                                       cmocka_unit_test(whereOneSlidesOnAnother),
                                       cmocka_unit_test(contactsAtOnePlaceAreOne)};
    dInitODE2(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
