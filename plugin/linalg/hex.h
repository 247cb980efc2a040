/* Sixteen numbers of single precision at once, as linalg/oct.h: for processors with AVX-512 alone. */
#ifndef SPRAG_LINALG_HEX_H
#define SPRAG_LINALG_HEX_H

#include "linalg/oct.h"

#if defined(__x86_64__)
#define SPRAG_HEX_EXISTS 1
#include <immintrin.h>

enum { SPRAG_HEX = 16 };
typedef float spragHex __attribute__((vector_size(64)));
typedef int spragHexMask __attribute__((vector_size(64))); /* -1: true */

#define SPRAG_HEX_WIDE __attribute__((target("avx512f,avx512dq,avx512vl")))
#define SPRAG_HEX_INLINE static inline __attribute__((always_inline, target("avx512f,avx512dq,avx512vl")))
static inline int spragHexIsThere(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

SPRAG_LANES(spragHex, spragHexMask, SPRAG_HEX_INLINE)

SPRAG_HEX_INLINE spragHex spragHexOf(float x)
{
    return (spragHex)_mm512_set1_ps(x);
}

SPRAG_HEX_INLINE spragHex spragHexSqrt(spragHex x)
{
    return (spragHex)_mm512_sqrt_ps((__m512)x);
}

/* The same row, `member`, of sixteen things. */
#define SPRAG_HEX_ROWS(things, member)                                                                                 \
    ((float *const[SPRAG_HEX]){                                                                                        \
        (float *)(things)[0]->member, (float *)(things)[1]->member, (float *)(things)[2]->member,                      \
        (float *)(things)[3]->member, (float *)(things)[4]->member, (float *)(things)[5]->member,                      \
        (float *)(things)[6]->member, (float *)(things)[7]->member, (float *)(things)[8]->member,                      \
        (float *)(things)[9]->member, (float *)(things)[10]->member, (float *)(things)[11]->member,                    \
        (float *)(things)[12]->member, (float *)(things)[13]->member, (float *)(things)[14]->member,                   \
        (float *)(things)[15]->member})

/* out[i]: number i of sixteen rows of four, 16-byte aligned */
SPRAG_HEX_INLINE void spragHexRead(float *const row[SPRAG_HEX], spragHex out[4])
{
    spragHex x[4], t[4];
    for (int i = 0; i < 4; ++i) {
        __m512 y = _mm512_castps128_ps512(_mm_load_ps(row[i]));
        y = _mm512_insertf32x4(y, _mm_load_ps(row[i + 4]), 1);
        y = _mm512_insertf32x4(y, _mm_load_ps(row[i + 8]), 2);
        x[i] = (spragHex)_mm512_insertf32x4(y, _mm_load_ps(row[i + 12]), 3);
    }
    for (int i = 0; i < 2; ++i) {
        t[2 * i] = (spragHex)_mm512_unpacklo_ps((__m512)x[2 * i], (__m512)x[2 * i + 1]);
        t[2 * i + 1] = (spragHex)_mm512_unpackhi_ps((__m512)x[2 * i], (__m512)x[2 * i + 1]);
    }
    for (int i = 0; i < 2; ++i) {
        out[2 * i] = (spragHex)_mm512_unpacklo_pd((__m512d)t[i], (__m512d)t[i + 2]);
        out[2 * i + 1] = (spragHex)_mm512_unpackhi_pd((__m512d)t[i], (__m512d)t[i + 2]);
    }
}

/* The way back. */
SPRAG_HEX_INLINE void spragHexWrite(float *const row[SPRAG_HEX], const spragHex in[4])
{
    spragHex t[4];
    for (int i = 0; i < 2; ++i) {
        t[2 * i] = (spragHex)_mm512_unpacklo_ps((__m512)in[2 * i], (__m512)in[2 * i + 1]);
        t[2 * i + 1] = (spragHex)_mm512_unpackhi_ps((__m512)in[2 * i], (__m512)in[2 * i + 1]);
    }
    for (int i = 0; i < 2; ++i)
        for (int odd = 0; odd < 2; ++odd) {
            const __m512d a = (__m512d)t[i], b = (__m512d)t[i + 2];
            const __m512 y = (__m512)(odd ? _mm512_unpackhi_pd(a, b) : _mm512_unpacklo_pd(a, b));
            float *const *to = row + 2 * i + odd;
            _mm_store_ps(to[0], _mm512_castps512_ps128(y));
            _mm_store_ps(to[4], _mm512_extractf32x4_ps(y, 1));
            _mm_store_ps(to[8], _mm512_extractf32x4_ps(y, 2));
            _mm_store_ps(to[12], _mm512_extractf32x4_ps(y, 3));
        }
}

/* first[i], last[i]: numbers i and 4 + i of sixteen rows of eight, 32-byte aligned */
SPRAG_HEX_INLINE void spragHexReadPairs(float *const row[SPRAG_HEX], spragHex first[4], spragHex last[4])
{
    __m512 x[8], t[8];
    for (int i = 0; i < 8; ++i) {
        float *const *from = row + i + (i < 4 ? 0 : 4);
        x[i] = (__m512)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd((const double *)(const void *)from[0])),
                                          _mm256_load_pd((const double *)(const void *)from[4]), 1);
    }
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
    }
    for (int i = 0; i < 4; ++i) {
        const int from = i / 2;
        const __m512d a = (__m512d)t[from], b = (__m512d)t[from + 2], c = (__m512d)t[from + 4],
                      d = (__m512d)t[from + 6];
        const __m512d few = i % 2 ? _mm512_unpackhi_pd(a, b) : _mm512_unpacklo_pd(a, b);
        const __m512d more = i % 2 ? _mm512_unpackhi_pd(c, d) : _mm512_unpacklo_pd(c, d);
        first[i] = (spragHex)_mm512_shuffle_f64x2(few, more, 0x88);
        last[i] = (spragHex)_mm512_shuffle_f64x2(few, more, 0xDD);
    }
}

/* The way back. */
SPRAG_HEX_INLINE void spragHexWritePairs(float *const row[SPRAG_HEX], const spragHex first[4], const spragHex last[4])
{
    const __m512i few = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0), more = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    __m512 t[2][4];
    for (int i = 0; i < 4; ++i) {
        const __m512 a = (__m512)(i < 2 ? first : last)[0], b = (__m512)(i < 2 ? first : last)[1],
                     c = (__m512)(i < 2 ? first : last)[2], d = (__m512)(i < 2 ? first : last)[3];
        t[i / 2][i % 2] = i % 2 ? _mm512_unpackhi_ps(a, b) : _mm512_unpacklo_ps(a, b);
        t[i / 2][2 + i % 2] = i % 2 ? _mm512_unpackhi_ps(c, d) : _mm512_unpacklo_ps(c, d);
    }
    for (int i = 0; i < 4; ++i) {
        __m512d half[2];
        for (int k = 0; k < 2; ++k) {
            const __m512d a = (__m512d)t[k][i / 2], b = (__m512d)t[k][2 + i / 2];
            half[k] = i % 2 ? _mm512_unpackhi_pd(a, b) : _mm512_unpacklo_pd(a, b);
        }
        const __m512d up = _mm512_permutex2var_pd(half[0], few, half[1]),
                      down = _mm512_permutex2var_pd(half[0], more, half[1]);
        _mm256_store_pd((double *)(void *)row[i], _mm512_castpd512_pd256(up));
        _mm256_store_pd((double *)(void *)row[i + 4], _mm512_extractf64x4_pd(up, 1));
        _mm256_store_pd((double *)(void *)row[i + 8], _mm512_castpd512_pd256(down));
        _mm256_store_pd((double *)(void *)row[i + 12], _mm512_extractf64x4_pd(down, 1));
    }
}
#else
#define SPRAG_HEX_EXISTS 0
#endif

#endif
