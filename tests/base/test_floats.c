/* The default floating-point environment is taken and the caller's given back, whatever of it was changed. */
#define _GNU_SOURCE
#include "support/check.h"

#include "base/floats.h"

static volatile double one = 1, zero;

static int divides(void)
{
    SPRAG_FLOATS;
    assert_int_equal(fegetround(), FE_TONEAREST);
    volatile double quotient = one / zero; /* volatile: here, and not when it is asked for */
    if (quotient > 0)
        return 1; /* left from within */
    return 0;
}

static void roundingComesBack(void **state)
{
    (void)state;
    const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int k = 0; k < 4; ++k) {
        fesetround(modes[k]);
        const int divided = divides(), after = fegetround();
        fesetround(FE_TONEAREST);
        assert_true(divided);
        assert_int_equal(after, modes[k]);
    }
}

/* What is raised meanwhile is not the caller's, what he raised still is. */
static void exceptionsComeBack(void **state)
{
    (void)state;
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_INEXACT);
    assert_true(divides());
    assert_int_equal(fetestexcept(FE_DIVBYZERO | FE_INEXACT), FE_INEXACT);
}

static void trapsComeBack(void **state)
{
    (void)state;
    feclearexcept(FE_ALL_EXCEPT);
    if (feenableexcept(FE_DIVBYZERO | FE_INVALID) == -1)
        skip(); /* most ARM processors have no traps */
    const int divided = divides(), after = fegetexcept();
    fedisableexcept(FE_ALL_EXCEPT);
    assert_true(divided);
    assert_int_equal(after, FE_DIVBYZERO | FE_INVALID);
}

#if defined(__x86_64__)
#define FLUSH(on) __builtin_ia32_ldmxcsr((on) ? 0x9fc0 : 0x1f80)
#elif defined(__aarch64__)
#define FLUSH(on) __asm__ volatile("msr fpcr, %x0" : : "r"((on) ? 1UL << 24 : 0UL))
#endif

#if defined(FLUSH)
static void denormalsAreNumbers(void **state)
{
    (void)state;
    volatile double least = 2.2250738585072014e-308;
    FLUSH(1); /* they are zero */
    const spragFloats host = spragFloatsTake();
    volatile double half = least / 2;
    spragFloatsGive(&host);
    volatile double flushed = least / 2;
    FLUSH(0);
    assert_true(half > 0 && !(flushed > 0));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(FLUSH)
        cmocka_unit_test(denormalsAreNumbers),
#endif
        cmocka_unit_test(roundingComesBack),
        cmocka_unit_test(exceptionsComeBack),
        cmocka_unit_test(trapsComeBack)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
