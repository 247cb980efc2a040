/* Eight numbers of single precision at once: for what is done a million times and is judged in double precision
 * afterwards.  As linalg/quad.h: each lane gets the bits it would get alone, on any machine. */
#ifndef SPRAG_LINALG_OCT_H
#define SPRAG_LINALG_OCT_H

#include "linalg/quad.h"

enum { SPRAG_OCT = 8 };
typedef float spragOct __attribute__((vector_size(32)));
typedef int spragOctMask __attribute__((vector_size(32))); /* -1: true */
typedef float spragOctRow __attribute__((vector_size(16)));

#define SPRAG_OCT_INLINE SPRAG_QUAD_INLINE
#define SPRAG_OCT_SHUFFLE(a, b, ...) SPRAG_SHUFFLE(spragOctMask, a, b, __VA_ARGS__)

SPRAG_LANES(spragOct, spragOctMask, SPRAG_OCT_INLINE)

SPRAG_OCT_INLINE spragOct spragOctOf(float x)
{
    return (spragOct){x, x, x, x, x, x, x, x};
}

#if defined(__SSE2__)
SPRAG_LANES_SQRT(spragOct, __m128, _mm_sqrt_ps)
#elif defined(__aarch64__)
SPRAG_LANES_SQRT(spragOct, float32x4_t, vsqrtq_f32)
#else
SPRAG_OCT_INLINE spragOct spragOctSqrt(spragOct x)
{
    spragOct y;
    for (int i = 0; i < SPRAG_OCT; ++i)
        y[i] = sqrtf(x[i]);
    return y;
}
#endif

/* The union would do for all, but gcc 12 takes it through memory: greedy_lanes.h gets a fifth more instructions. */
#if __has_builtin(__builtin_shufflevector)
SPRAG_OCT_INLINE spragOct spragOctOfHalves(spragOctRow a, spragOctRow b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}
SPRAG_OCT_INLINE spragOctRow spragOctHalf(spragOct x, int half)
{
    return half == 0 ? __builtin_shufflevector(x, x, 0, 1, 2, 3) : __builtin_shufflevector(x, x, 4, 5, 6, 7);
}
#else
typedef union spragOctHalves {
    spragOct whole;
    spragOctRow half[2];
} spragOctHalves;
SPRAG_OCT_INLINE spragOct spragOctOfHalves(spragOctRow a, spragOctRow b)
{
    return (spragOctHalves){.half = {a, b}}.whole;
}
SPRAG_OCT_INLINE spragOctRow spragOctHalf(spragOct x, int half)
{
    return (spragOctHalves){x}.half[half];
}
#endif

/* The same row, `member`, of eight things. */
#define SPRAG_OCT_ROWS(things, member)                                                                                 \
    ((float *const[SPRAG_OCT]){(float *)(things)[0]->member, (float *)(things)[1]->member,                             \
                               (float *)(things)[2]->member, (float *)(things)[3]->member,                             \
                               (float *)(things)[4]->member, (float *)(things)[5]->member,                             \
                               (float *)(things)[6]->member, (float *)(things)[7]->member})

/* out[i]: number i of eight rows of four, 16-byte aligned */
SPRAG_OCT_INLINE void spragOctRead(float *const row[SPRAG_OCT], spragOct out[4])
{
    spragOct x[4], t[4];
    for (int i = 0; i < 4; ++i)
        x[i] = spragOctOfHalves(*(const spragOctRow *)(const void *)row[i],
                                *(const spragOctRow *)(const void *)row[i + 4]);
    for (int i = 0; i < 2; ++i) {
        t[2 * i] = SPRAG_OCT_SHUFFLE(x[2 * i], x[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        t[2 * i + 1] = SPRAG_OCT_SHUFFLE(x[2 * i], x[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 2; ++i) {
        out[2 * i] = SPRAG_OCT_SHUFFLE(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        out[2 * i + 1] = SPRAG_OCT_SHUFFLE(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
}

/* The way back. */
SPRAG_OCT_INLINE void spragOctWrite(float *const row[SPRAG_OCT], const spragOct in[4])
{
    spragOct t[4];
    for (int i = 0; i < 2; ++i) {
        t[2 * i] = SPRAG_OCT_SHUFFLE(in[2 * i], in[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        t[2 * i + 1] = SPRAG_OCT_SHUFFLE(in[2 * i], in[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 2; ++i) {
        const spragOct even = SPRAG_OCT_SHUFFLE(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        const spragOct odd = SPRAG_OCT_SHUFFLE(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        *(spragOctRow *)(void *)row[2 * i] = spragOctHalf(even, 0);
        *(spragOctRow *)(void *)row[2 * i + 1] = spragOctHalf(odd, 0);
        *(spragOctRow *)(void *)row[2 * i + 4] = spragOctHalf(even, 1);
        *(spragOctRow *)(void *)row[2 * i + 5] = spragOctHalf(odd, 1);
    }
}

/* first[i], last[i]: numbers i and 4 + i of eight rows of eight */
SPRAG_OCT_INLINE void spragOctReadPairs(float *const row[SPRAG_OCT], spragOct first[4], spragOct last[4])
{
    spragOctRead(row, first);
    spragOctRead((float *const[SPRAG_OCT]){row[0] + 4, row[1] + 4, row[2] + 4, row[3] + 4, row[4] + 4, row[5] + 4,
                                           row[6] + 4, row[7] + 4},
                 last);
}

/* The way back. */
SPRAG_OCT_INLINE void spragOctWritePairs(float *const row[SPRAG_OCT], const spragOct first[4], const spragOct last[4])
{
    spragOctWrite(row, first);
    spragOctWrite((float *const[SPRAG_OCT]){row[0] + 4, row[1] + 4, row[2] + 4, row[3] + 4, row[4] + 4, row[5] + 4,
                                            row[6] + 4, row[7] + 4},
                  last);
}

#endif
