/* Four numbers at once: what is done to four small problems of one shape costs little more than to one.
 *
 * Every lane gets the bits it would get alone: no sums across lanes, no fused multiply-add, and the wide clone of a
 * function (AVX2) rounds as the narrow one does. */
#ifndef SPRAG_LINALG_QUAD_H
#define SPRAG_LINALG_QUAD_H

#include <math.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { SPRAG_QUAD = 4 };
typedef double spragQuad __attribute__((vector_size(32)));
typedef long long spragQuadMask __attribute__((vector_size(32))); /* -1: true */

/* Four numbers anywhere in memory. */
typedef double spragQuadLoose __attribute__((vector_size(32), aligned(8), may_alias));

/* Numbers of a and then b by their places, in the order wanted; gcc before 12 has it by another name. */
#if __has_builtin(__builtin_shufflevector)
#define SPRAG_SHUFFLE(mask_type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SPRAG_SHUFFLE(mask_type, a, b, ...) __builtin_shuffle(a, b, (mask_type){__VA_ARGS__})
#endif
#define SPRAG_QUAD_SHUFFLE(a, b, ...) SPRAG_SHUFFLE(spragQuadMask, a, b, __VA_ARGS__)

/* Never passed to a function that is not inlined: the ABI depends on the target. */
#define SPRAG_QUAD_INLINE static inline __attribute__((always_inline))

/* A SPRAG_QUAD_WIDE function is compiled for AVX2, for processors that have it: spragQuadIsWide(). */
#if defined(__x86_64__)
#define SPRAG_QUAD_WIDE __attribute__((target("avx2")))
static inline int spragQuadIsWide(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}
#else
#define SPRAG_QUAD_WIDE
static inline int spragQuadIsWide(void)
{
    return 0;
}
#endif

/* A function over quads in two clones, of which spragQuadIsWide() picks one:
 * body is SPRAG_QUAD_INLINE void (type *). */
#define SPRAG_QUAD_CLONES(name, body, type)                                                                            \
    SPRAG_QUAD_WIDE static void name##Wide(type *argument)                                                             \
    {                                                                                                                  \
        body(argument);                                                                                                \
    }                                                                                                                  \
    static void name##Narrow(type *argument)                                                                           \
    {                                                                                                                  \
        body(argument);                                                                                                \
    }                                                                                                                  \
    static void name(type *argument)                                                                                   \
    {                                                                                                                  \
        spragQuadIsWide() ? name##Wide(argument) : name##Narrow(argument);                                             \
    }

/* The rows of a 3x3 block anywhere in memory; the last number of each is of no use. */
SPRAG_QUAD_INLINE void spragQuadRows33(const double *M, spragQuad row[3])
{
    const spragQuad last = *(const spragQuadLoose *)(M + 5);
    row[0] = *(const spragQuadLoose *)M, row[1] = *(const spragQuadLoose *)(M + 3);
    row[2] = SPRAG_QUAD_SHUFFLE(last, last, 1, 2, 3, 3);
}

/* What lanes of any width can do (quads here, linalg/oct.h).  Max: the larger; b where a is NaN. */
#define SPRAG_LANES(lanes, mask_type, inline_of)                                                                       \
    inline_of lanes lanes##Select(mask_type mask, lanes yes, lanes no)                                                 \
    {                                                                                                                  \
        return (lanes)(((mask_type)yes & mask) | ((mask_type)no & ~mask));                                             \
    }                                                                                                                  \
    inline_of lanes lanes##Max(lanes a, lanes b)                                                                       \
    {                                                                                                                  \
        return lanes##Select(a > b, a, b);                                                                             \
    }                                                                                                                  \
    inline_of lanes lanes##Dot3(const lanes a[3], const lanes b[3])                                                    \
    {                                                                                                                  \
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];                                                                \
    }                                                                                                                  \
    inline_of void lanes##Cross3(lanes out[3], const lanes a[3], const lanes b[3])                                     \
    {                                                                                                                  \
        out[0] = a[1] * b[2] - a[2] * b[1];                                                                            \
        out[1] = a[2] * b[0] - a[0] * b[2];                                                                            \
        out[2] = a[0] * b[1] - a[1] * b[0];                                                                            \
    }

/* Their roots, by halves, which machines have an instruction for. */
#define SPRAG_LANES_SQRT(lanes, half_type, root)                                                                       \
    SPRAG_QUAD_INLINE lanes lanes##Sqrt(lanes x)                                                                       \
    {                                                                                                                  \
        union {                                                                                                        \
            lanes whole;                                                                                               \
            half_type half[2];                                                                                         \
        } y = {x};                                                                                                     \
        y.half[0] = root(y.half[0]), y.half[1] = root(y.half[1]);                                                      \
        return y.whole;                                                                                                \
    }

SPRAG_LANES(spragQuad, spragQuadMask, SPRAG_QUAD_INLINE)

SPRAG_QUAD_INLINE spragQuad spragQuadOf(double x)
{
    return (spragQuad){x, x, x, x};
}

SPRAG_QUAD_INLINE spragQuad spragQuadMin(spragQuad a, spragQuad b)
{
    return spragQuadSelect(a < b, a, b);
}

SPRAG_QUAD_INLINE int spragQuadAny(spragQuadMask mask)
{
    return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

SPRAG_QUAD_INLINE int spragQuadAll(spragQuadMask mask)
{
    return (mask[0] & mask[1] & mask[2] & mask[3]) != 0;
}

#if defined(__SSE2__)
SPRAG_LANES_SQRT(spragQuad, __m128d, _mm_sqrt_pd)
#elif defined(__aarch64__)
SPRAG_LANES_SQRT(spragQuad, float64x2_t, vsqrtq_f64)
#else
SPRAG_QUAD_INLINE spragQuad spragQuadSqrt(spragQuad x)
{
    return (spragQuad){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
}
#endif

/* out = M x, M (3 x 3) */
SPRAG_QUAD_INLINE void spragQuadMul33(spragQuad out[3], const spragQuad M[9], const spragQuad x[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2];
}

/* b = x - (x . n) n, n of unit length; returns x . n.  b may be x. */
SPRAG_QUAD_INLINE spragQuad spragQuadTangent(spragQuad b[3], const spragQuad x[3], const spragQuad n[3])
{
    const spragQuad along = spragQuadDot3(x, n);
    for (int i = 0; i < 3; ++i)
        b[i] = x[i] - along * n[i];
    return along;
}

#endif
