/* How many copies of a run a test has, where one is not enough because luck decides.  A sanitizer finds in the first
 * of them what it finds in all, and takes three times as long. */
#ifndef TESTS_SUPPORT_REPEATS_H
#define TESTS_SUPPORT_REPEATS_H

#ifdef __SANITIZE_ADDRESS__
#define REPEATS(all) (((all) + 3) / 4)
#else
#define REPEATS(all) (all)
#endif

#endif
