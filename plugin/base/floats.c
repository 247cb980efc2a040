#include "base/floats.h"

/* Flags of one build type, or of a project around this one, that CMake's check does not see. */
#if defined __FAST_MATH__ || __FINITE_MATH_ONLY__
#error "Sprag needs the arithmetic of IEEE 754, with NaN and infinity: no -ffast-math, no -Ofast"
#endif

#if defined(__x86_64__)

enum { SSE_DEFAULT = 0x1f80, X87_DEFAULT = 0x37f }; /* all exceptions masked, to nearest, x87 with 64 bits */

/* fegetenv and fesetenv take 0.1 us, a tenth of the step of a small world; x87 is seldom touched by anybody. */
spragFloats spragFloatsTake(void)
{
    spragFloats host = {.sse = __builtin_ia32_stmxcsr()};
    unsigned short x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    host.quick = x87 == X87_DEFAULT;
    if (host.quick) {
        __builtin_ia32_ldmxcsr(SSE_DEFAULT);
    } else {
        fegetenv(&host.all);
        fesetenv(FE_DFL_ENV);
    }
    return host;
}

void spragFloatsGive(const spragFloats *host)
{
    if (host->quick)
        __builtin_ia32_ldmxcsr(host->sse);
    else
        fesetenv(&host->all);
}

#else

spragFloats spragFloatsTake(void)
{
    spragFloats host = {0};
    fegetenv(&host.all);
    fesetenv(FE_DFL_ENV);
    return host;
}

void spragFloatsGive(const spragFloats *host)
{
    fesetenv(&host->all);
}

#endif
