/* Performance profiles (Dolan and More 2002): for each method the share of problems it solves within a factor t of the
 * fastest method on each. */
#ifndef DEMOS_BENCH_PROFILE_H
#define DEMOS_BENCH_PROFILE_H

#include <stdio.h>

typedef struct Profile {
    int methods, problems;
    const char *const *name; /* (methods) */
    const double *seconds;   /* (problems x methods), infinity where not solved */
} Profile;

void profilePrint(const Profile *profile, FILE *out);
void profileWriteSvg(const Profile *profile, FILE *out);

#endif
