/* Status with a sentence: every refusal says what was wrong. */
#ifndef SPRAG_BASE_STATUS_H
#define SPRAG_BASE_STATUS_H

#include <sprag/sprag.h>

/* Keeps the sentence for spragStatusDetail of this thread and returns status:
 *     return spragFail(SPRAG_ERROR_RANGE, "mu[%d] = %g, expected >= 0", k, mu[k]); */
__attribute__((format(printf, 2, 3))) spragStatus spragFail(spragStatus status, const char *format, ...);

/* Forgets the sentence: first line of every public function that can fail. */
void spragDetailClear(void);

#endif
