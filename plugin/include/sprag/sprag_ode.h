/* sprag_ode.h: Sprag's contact solver on an ODE world.
 *
 * Attach a world, create its contacts with spragJointCreateContact, step it with spragWorldStep.  Contacts that were
 * made with dJointCreateContact are solved too.  ODE keeps integration, gravity, damping, sleeping and callbacks, and
 * outside of islands with contacts the gyroscopic terms (see spragGyroscopic).
 *
 * Threads: only one thread at a time may use a world.  Different worlds may be stepped by different threads if each has
 * a threading implementation of its own (dWorldSetStepThreadingImplementation): ODE's default one, which all worlds
 * share, serves one thread.
 *
 * Callbacks: within a step ODE calls dBodySetMovedCallback's.  There Sprag's results may be read; what the step works
 * with may not be changed: setting the config, guides, joint friction, dumping and stepping the same world return
 * SPRAG_ERROR_ORDER.
 *
 * Errors: where a function returns spragStatus, spragStatusDetail says what was wrong.  SPRAG_ERROR_NULL: an argument
 * or the handle is NULL; SPRAG_ERROR_STALE: the handle was detached, or its dWorld destroyed.
 *
 * A step takes some 70 kB of the thread's stack.
 */
#ifndef SPRAG_SPRAG_ODE_H
#define SPRAG_SPRAG_ODE_H

#include <ode/ode.h>
#include <sprag/sprag.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spragWorld *spragWorldID; /* a world's attachment, spragWorldAttach to spragWorldDetach */
typedef struct spragGuide *spragGuideID; /* until spragGuideDestroy, or the end of one of its bodies */

/* Which of ODE's steps integrates, and solves what Sprag declines: dWorldStep or dWorldQuickStep. */
typedef enum spragStepper { SPRAG_STEPPER_STEP, SPRAG_STEPPER_QUICKSTEP } spragStepper;

typedef enum spragGyroscopic {
    SPRAG_GYROSCOPIC_MOMENTUM, /* keeps the angular momentum of mid-steps, second order: a top keeps its spin */
    SPRAG_GYROSCOPIC_ODE,      /* ODE's implicit damped torque, bit by bit */
    SPRAG_GYROSCOPIC_CONTACTS  /* as MOMENTUM, and knows of torques and of what contacts press: tops are 10 to 50 times
                                  nearer at 1e-3 s, but their spin is kept to 1e-6 a second, not to rounding */
} spragGyroscopic;

typedef enum spragAnalysis {
    SPRAG_ANALYSIS_OFF,
    SPRAG_ANALYSIS_CONTACTS, /* p, b and the paradox class of every sliding contact */
    SPRAG_ANALYSIS_JUDGE     /* and under SPRAG_SOLVER_STOCK the residual of ODE's answer, which takes time to find */
} spragAnalysis;

typedef struct spragConfig {
    unsigned cookie;        /* set by spragConfigDefault, or 0; another value (an uninitialised struct) is refused */
    spragSolverKind solver; /* may be changed between steps: spragWorldSetConfig.  A step of SPRAG_SOLVER_STOCK has no
                               contacts and no events; those after it begin with new contacts, and new touches */
    double tolerance;       /* on the residual, m/s; default 1e-8 */
    int iteration_limit;    /* per island and method, 0 = the method's own */
    double time_limit;      /* s, of the whole step with ODE's part; 0 = none.  When it is up the best answer so far is
                               used.  However short it is, piles get thirty sweeps: else they fall into each other */
    double enough;          /* m/s, as in spragSolveOptions; default 0 = none; 1e-6 in preloaded programs */
    int thread_count;       /* up to 1024; default 1 */
    spragIndeterminacy indeterminacy;
    double tangential_restitution; /* 0..1, energetic restitution of the impact that ends a slip; default 0 */
    int analysis;                  /* spragAnalysis; default SPRAG_ANALYSIS_CONTACTS */
    int event_capacity;            /* events kept of one step; default 1024, more are counted, not kept */
    spragStepper stepper;          /* default SPRAG_STEPPER_STEP */
    spragGyroscopic gyroscopic;
    int patient;   /* 1: large islands have all their work in every step, whatever time that takes.
                      0 (default): one that ends a step above 1e-6 m/s, or takes long (40 ms; 10 in a heap, whose bodies
                      do not lie flat on each other; half of stepsize where `enough` is given) has half as much work in
                      the next, down to some milliseconds, until it is solved.  Up to 400 contacts that lie flat have
                      half at least.  Heaps of more than 100 contacts have less from the start while they move.  They
                      end at some 1e-6 m/s, whatever the tolerance, while they rest but for a few bodies, and, of
                      mechanisms, at 1e-4 while they fall (docs/architecture.md, Piles on the move) */
    int forgetful; /* 1: a step depends on the state of the world alone.  Nothing is kept from the last step: every
                      contact begins anew, with a new id.  For planners and others who set states by hand and want the
                      same step from the same state, contacts made in the same order.  Bodies that rock, or roll on
                      what is round, lose more of their energy then.  Default 0 */
} spragConfig;

/* The defaults above, with the cookie set. */
SPRAG_API spragConfig spragConfigDefault(void);

/* Properties of a contact that dSurfaceParameters lacks.  Zero means zero; start from spragSurfaceDefault. */
typedef struct spragSurface {
    double mu_static;           /* coefficient of a contact that rested in the last step, or rests when first seen;
                                   less than mu: mu; beyond 1e3: 1e3 */
    double curvature_radius[2]; /* m, of each body's surface at the contact.  0: a point fixed in the body (a tip); > 0:
                                   a sphere of that radius, which rolls; INFINITY: flat; < 0 (default): as the geom
                                   says.  The world is flat.  Of two bodies without round geoms each is half flat,
                                   so say {0, INFINITY} for a tip on a moving table */
    double stiffness;           /* N/m, 0 = rigid */
    double damping;             /* N s/m */
} spragSurface;

/* No static friction of its own, curvature as the geoms say, rigid. */
SPRAG_API spragSurface spragSurfaceDefault(void);

/* Two-sided contact (docs/guides.md): a point of `body` on a plane fixed in `guide` (NULL: the world).  Two guides make
 * a line, or a slot with walls.  A null joint connects the two bodies in ODE, so they sleep and wake together.  A guide
 * acts where Sprag solves its island.  Under SPRAG_SOLVER_STOCK and in a declined island (SPRAG_EVENT_DECLINED) it
 * exerts no force; afterwards the point is brought back to its plane at the rate of ERP.  A guide ends with either of
 * its bodies. */
typedef struct spragGuideDef {
    unsigned cookie; /* set by spragGuideDefDefault, or 0 */
    dBodyID body, guide;
    dVector3 point;          /* m, world coordinates now; then fixed in body */
    dVector3 normal;         /* unit, world coordinates now; then fixed in guide */
    double mu[2];            /* 0: the guide pushes along +normal, 1: along -normal */
    double clearance;        /* m, total play; 0 = none */
    spragSurface surface[2]; /* of either side; a point on a plane has no use for curvature_radius */
} spragGuideDef;

/* No bodies yet, no friction, no clearance, default surfaces; the cookie is set. */
SPRAG_API spragGuideDef spragGuideDefDefault(void);

/* Coulomb friction in a joint, proportional to its reaction (docs/guides.md): in hinges, balls and universals, whose
 * bearings have a radius, and in sliders and pistons, whose bearings have a length and a half-width.
 *
 * Turning about an axis: a torque up to mu radius |F|, F the force that the joint transmits.  In a ball that is the
 * bound for the torque across F, in any direction, and once more for the torque about F.
 *
 * Sliding: the bearing is loaded at its two ends, each a two-sided contact (a spragContact with this joint).  It jams
 * where it is pulled at a distance e from its axis with 2 mu e > length.  It sits at the centre of a slider's first
 * body, at the anchor of a piston.  In a piston friction also resists turning about the axis, at the radius
 * half_width. */
typedef struct spragJointFriction {
    double mu;         /* kinetic */
    double mu_static;  /* while at rest; < mu: equal to mu */
    double radius;     /* m, of rotating axes */
    double length;     /* m, of sliding axes */
    double half_width; /* m, of the bearing, for sliding axes */
} spragJointFriction;

/* No friction. */
SPRAG_API spragJointFriction spragJointFrictionDefault(void);

/* A contact, a guide, or the end of a sliding bearing in the last step; vectors in world axes. */
typedef struct spragContact {
    unsigned long long id; /* lasts as long as the contact does */
    dJointID joint;        /* NULL for guides; valid only while the joint lives */
    dBodyID body[2];       /* body[1] NULL = the world; the normal points into body[0] */
    double position[3];    /* m; of boxes at rest among many: where it was first, as long as that is as good */
    double normal[3];      /* unit */
    spragMode mode;        /* at the end of the step */
    int variant;           /* the side that is loaded: of a guide +1 or -1, of a contact 1; 0: none */
    double normal_force;   /* N, mean over the step, along normal; < 0: a guide that pulls */
    double friction[3];    /* N, mean over the step, on body[0] */
    double slip[3];        /* m/s, of body[0] against body[1] at the end of the step */
    double depth;          /* m, penetration as the collider has it (but on a flat mesh into its plane; of the end of a
                              cylinder on a box that of this point; at rest on a mesh less by 4e-6 m) */
    /* 0 under SPRAG_ANALYSIS_OFF: */
    double painleve_p;        /* 1/kg: normal acceleration of the sliding contact alone is b + p N */
    double free_acceleration; /* b, m/s^2 */
    int paradox_class;        /* 0..4, docs/theory.md 5 */
} spragContact;

typedef enum spragEventType {
    SPRAG_EVENT_TOUCH,   /* open before the step, no longer open after it */
    SPRAG_EVENT_DETACH,  /* open after it; alone of a new contact that could have stayed, and leaves at once */
    SPRAG_EVENT_STICK,   /* a slip ended */
    SPRAG_EVENT_SLIP,    /* one began */
    SPRAG_EVENT_REVERSE, /* it slid, and slides the other way */
    SPRAG_EVENT_VARIANT, /* a guide is loaded on its other side */
    /* docs/theory.md 6; of a contact or of an island */
    SPRAG_EVENT_JAM,           /* an impulse ended a slip, without a collision; of an island: it is wedged */
    SPRAG_EVENT_INDETERMINATE, /* several motions */
    SPRAG_EVENT_INCONSISTENT,  /* no motion without an impulse */
    /* of an island */
    SPRAG_EVENT_FALLBACK, /* the usual methods failed: a later one was asked, and may have failed too (reason) */
    SPRAG_EVENT_DECLINED, /* ODE solved it; reason */
    SPRAG_EVENT_TYPE_COUNT
} spragEventType;

/* "touch", "detach", ..., in lower case.  The text is static. */
SPRAG_API const char *spragEventName(spragEventType type);

typedef struct spragEvent {
    spragEventType type;
    double time;                /* s since attach, at the end of the step */
    long step;                  /* counts from 0 */
    unsigned long long contact; /* spragContact.id; 0: of an island, body[0] and position are those of its first body */
    dBodyID body[2];            /* as of a spragContact */
    double position[3];         /* m, world */
    double normal[3];           /* unit, world */
    double impulse[3];          /* N s, on body[0], world axes */
    double slip_before[3], slip_after[3]; /* m/s */
    double p, b;                          /* 1/kg, m/s^2: painleve_p, free_acceleration */
    double separatrix;                    /* N, N* = -b / p where several solutions exist, else 0 */
    int anticipated; /* 1: the velocity-level step met the singular point up to a step early (p still > 0) */
    int paradox_class;
    int variant; /* +1 / -1 after the step: the side of a guide that bears load; 1 of an ordinary contact, 0 open */
    /* Of DECLINED: why ODE solved the island.  Of FALLBACK, and of JAM of an island: that it is wedged, that no bounds
     * of its joints' friction fit their reactions, or why it was rescued.  A static sentence, or NULL. */
    const char *reason;
    int body_number[2]; /* constant while a body lives, and never another body's; -1: the world, or unknown */
} spragEvent;

/* event: valid during the call; user: as given to spragWorldSetEventCallback. */
typedef void spragEventFn(const spragEvent *event, void *user);

/* What the last step was like. */
typedef struct spragStepInfo {
    int islands, contacts, joints;  /* seen by Sprag; joints: those that are no contacts */
    int solved[SPRAG_SOLVER_COUNT]; /* islands by the method whose answer was taken */
    int iterations;
    double residual;          /* worst over solved islands, m/s; of wedged ones: of the problem in which they yield */
    int fallbacks;            /* islands with SPRAG_EVENT_FALLBACK */
    int declined;             /* islands with contacts left to ODE */
    int events, events_lost;  /* told, and beyond spragConfig.event_capacity */
    long long nanoseconds[8]; /* of each stage, by SPRAG_STAGE_* */
    long step;                /* steps since attach */
    double time;              /* s since attach */
    int wedged; /* islands for which no rigid solution was found and friction locks a wedge: contacts yield */
    double residual_rigid; /* worst over these, of the rigid problem, m/s */
    int rescued; /* of the fallbacks: large islands without an answer, or whose matrix is too large: swept without it */
    int quick;   /* 1: a declined island is too large for dWorldStep, so ODE's step was dWorldQuickStep */
} spragStepInfo;

/* Of spragStepInfo.nanoseconds. */
enum {
    SPRAG_STAGE_LEDGER,  /* the world is looked at */
    SPRAG_STAGE_ISLANDS, /* islands, and the contacts of the last step recognised */
    SPRAG_STAGE_ROWS,    /* 0: part of ASSEMBLE */
    SPRAG_STAGE_ASSEMBLE,
    SPRAG_STAGE_SOLVE,
    SPRAG_STAGE_APPLY, /* impulses handed to ODE */
    SPRAG_STAGE_ODE,
    SPRAG_STAGE_REPORT
};

/* Attaches Sprag to a world.  *out lives until spragWorldDetach, best called before dWorldDestroy; once the dWorld is
 * destroyed all other calls return SPRAG_ERROR_STALE.  SPRAG_ERROR_ORDER: the world is attached already;
 * SPRAG_ERROR_ODE: this libode is not the one that Sprag was built for; SPRAG_ERROR_NULL, _RANGE, _MEMORY.  (While
 * worlds are attached Sprag has a handler set with dSetFreeHandler, which calls the one that was there.) */
SPRAG_API spragStatus spragWorldAttach(dWorldID world, const spragConfig *config /* NULL: defaults */,
                                       spragWorldID *out);
/* Detaches, and frees all of it: its guides and joint friction end, the arrays of events and contacts are gone.  Within
 * a step of the world, or its event callback, it does nothing (SPRAG_ERROR_ORDER in spragStatusDetail). */
SPRAG_API void spragWorldDetach(spragWorldID);
/* The attachment of a world, or NULL. */
SPRAG_API spragWorldID spragWorldFind(dWorldID world);
/* The config of the steps from the next one on.  SPRAG_ERROR_RANGE: a field is out of its range, and nothing is
 * changed; _ORDER within a step; _NULL, _STALE. */
SPRAG_API spragStatus spragWorldSetConfig(spragWorldID, const spragConfig *config);
/* Copies the present config.  SPRAG_ERROR_NULL, _STALE. */
SPRAG_API spragStatus spragWorldGetConfig(spragWorldID, spragConfig *config);

/* As dJointCreateContact: the joint is ODE's, and lives as long as its group says.  NULL on bad input
 * (spragStatusDetail says what).  A coefficient mu from 1e3 on (dContactApprox1) is as good as infinite, and taken
 * so. */
SPRAG_API dJointID spragJointCreateContact(spragWorldID, dJointGroupID, const dContact *);
/* The same with a surface, which is copied and may not be NULL. */
SPRAG_API dJointID spragJointCreateContactSurface(spragWorldID, dJointGroupID, const dContact *, const spragSurface *);

/* One step of stepsize seconds, 1e-30 to 1e30, as dWorldStep or dWorldQuickStep (spragConfig.stepper).  On an error
 * status the world is as it was before the call: SPRAG_ERROR_NOT_FINITE or _RANGE of a number in it (spragStatusDetail
 * names it), _ORDER within a step, _NULL, _STALE, _MEMORY.  (Islands without contacts are ODE's: where joints that
 * contradict each other make a body's orientation NaN, Debian's ODE ends the program.) */
SPRAG_API spragStatus spragWorldStep(spragWorldID, dReal stepsize);

/* Makes a two-sided contact; the def is copied.  *out lives until spragGuideDestroy or the end of one of its bodies.
 * SPRAG_ERROR_NULL, _RANGE, _NOT_FINITE: of the def; _ORDER within a step; _STALE, _MEMORY. */
SPRAG_API spragStatus spragGuideCreate(spragWorldID, const spragGuideDef *, spragGuideID *out);
/* Ends a guide.  NULL is nothing to do; of a guide that has ended already spragStatusDetail says so, without harm. */
SPRAG_API void spragGuideDestroy(spragGuideID);
/* Gives a joint friction, which is copied; a second call replaces it, mu = 0 removes it.  It ends when the joint is
 * destroyed or attached to other bodies.  Like a guide it acts where Sprag solves the island.
 * SPRAG_ERROR_UNSUPPORTED: another type of joint, or a libode that does not give its rows; SPRAG_ERROR_NULL, _RANGE,
 * _NOT_FINITE, _ORDER, _STALE, _MEMORY. */
SPRAG_API spragStatus spragJointSetFriction(spragWorldID, dJointID, const spragJointFriction *);

/* Contacts and events of the last step: returns how many, and an array that is valid until the next call of
 * spragWorldStep or spragWorldDetach.  contacts, events may be NULL.  0 and NULL of a world that is gone.
 *
 * There may be fewer contacts than joints, and more.  A ball that lies on a face of a mesh has one contact with it,
 * whatever else the collider names at edges beside it.  A point of a capsule, cylinder or hull that the collider named
 * in the steps before, and where the bodies still touch, stays a contact; its joint is that of the nearest point that
 * is named now, whose feedback has the forces of both. */
SPRAG_API int spragWorldGetContacts(spragWorldID, const spragContact **contacts);
SPRAG_API int spragWorldGetEvents(spragWorldID, const spragEvent **events);
/* Sets a function that is called at the end of spragWorldStep for every event that is kept (event_capacity), in their
 * order, on the thread of the step; NULL ends it.  In it the world may be changed, its results read and its config set;
 * it cannot be stepped or detached (SPRAG_ERROR_ORDER). */
SPRAG_API void spragWorldSetEventCallback(spragWorldID, spragEventFn *, void *user);
/* One event as a JSON object, without a line end, cut to size bytes; 1024 are enough.  body: the caller's numbers of
 * the two bodies, -1 for the world; NULL: event->body_number.  Returns the length of the whole text, as snprintf. */
SPRAG_API size_t spragEventJson(const spragEvent *event, const int body[2], char *buffer, size_t size);
/* By value; all 0 of a world that is gone. */
SPRAG_API spragStepInfo spragWorldGetStepInfo(spragWorldID);
/* Writes the problem of every island of the last step as spragProblemWrite does: path for the first, path with "-2",
 * "-3", ... before the extension for the others.  SPRAG_ERROR_ORDER: no island was solved, or this is within a step;
 * _NULL, _STALE, and those of spragProblemWrite. */
SPRAG_API spragStatus spragWorldDumpProblem(spragWorldID, const char *path);

#ifdef __cplusplus
}
#endif
#endif
