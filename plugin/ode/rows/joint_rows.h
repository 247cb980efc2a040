/* Rows of ODE's own joints, as ODE's getInfo1 / getInfo2 write them.
 *
 * A joint of two bodies contributes m <= 6 rows
 *     J1 v1 + J2 v2 + (cfm / h) r = rhs,   h lo <= r <= h hi,   r an impulse,
 * v = (linear, angular) velocity of a body.  The C++ members that know the rows are exported by libode and are called
 * through weak symbols, so that a library without them is noticed, not crashed into.
 */
#ifndef SPRAG_ODE_JOINT_ROWS_H
#define SPRAG_ODE_JOINT_ROWS_H

#include <ode/ode.h>

enum { SPRAG_JOINT_ROW_MAX = 6 };

typedef struct spragJointRowSet {
    int m;
    dBodyID body[2];                   /* body[0] never NULL; body[1] NULL = the world */
    double J1[SPRAG_JOINT_ROW_MAX][6]; /* (m x 6) linear, angular, of body[0] */
    double J2[SPRAG_JOINT_ROW_MAX][6]; /* (m x 6) of body[1], zero if NULL */
    double rhs[SPRAG_JOINT_ROW_MAX];   /* (m) m/s or rad/s */
    double cfm[SPRAG_JOINT_ROW_MAX];   /* (m) as ODE's: velocity per force, times h */
    double lo[SPRAG_JOINT_ROW_MAX];    /* (m) N or N m; -inf and +inf: an equality row */
    double hi[SPRAG_JOINT_ROW_MAX];
    double force[SPRAG_JOINT_ROW_MAX]; /* (m) N or N m along the row: the motor of an axis that is at its stop */
    int findex[SPRAG_JOINT_ROW_MAX];   /* (m) row of this joint whose impulse scales the bounds, or -1 */
} spragJointRowSet;

/* "Hinge", "AMotor", ..., as in ODE's dJointType, for messages. */
const char *spragJointTypeName(dJointType type);

/* 1 if this libode has the row functions and they passed the self-test (run once per process; ODE must be
 * initialised).  Otherwise islands with joints are ODE's. */
int spragJointRowsAvailable(void);

/* Rows of one enabled, attached joint that is not a contact.  fps = 1 / step, 1/s; erp, cfm the world's.  Writes *out
 * and returns m, 0 for a joint that has none now, or -1 if this type cannot be had.  Leaves the joint as it was. */
int spragJointRows(dJointID joint, double fps, double erp, double cfm, spragJointRowSet *out);

#endif
