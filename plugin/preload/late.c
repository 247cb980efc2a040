/* dlsym for programs that load ODE themselves and ask their handle for its functions: such a search knows
 * nothing of what was preloaded.  Where it ends at an ODE function that Sprag takes, the answer is
 * Sprag's; everything else is the loader's.
 *
 * RTLD_NEXT depends on who asks, which the loader reads off the return address: the call is passed on as a jump. */
#define _GNU_SOURCE
#include "preload/late.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <sprag/sprag.h>

#include "api/api_ode.h"

typedef void *Find(void *handle, const char *name);

/* The loader's dlsym has had different versions, by machine and by glibc. */
static Find *loader(void)
{
    static _Atomic(Find *) known;
    static const char *const version[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27", "GLIBC_2.0"};
    Find *find = atomic_load(&known);
    for (size_t k = 0; find == NULL && k < sizeof version / sizeof *version; ++k)
        *(void **)&find = dlvsym(RTLD_NEXT, "dlsym", version[k]);
    atomic_store(&known, find);
    return find;
}

void *spragLateFind(void *handle, const char *name)
{
    Find *const find = loader();
    return find != NULL ? find(handle, name) : NULL;
}

#define IS_TAKEN(type, name, parameters, arguments) || strcmp(asked, #name) == 0
#define TAKE(type, name, parameters, arguments)                                                                        \
    if (strcmp(asked, #name) == 0)                                                                                     \
        *(type(**) parameters) & ours = name;

static int isTaken(const char *asked)
{
    return asked != NULL && asked[0] == 'd' && (0 PRELOAD_LIST(IS_TAKEN));
}

/* Asked by a Sprag of the program's own.  The sanitizers ask for their functions before strcmp, which is theirs, is
 * ready: it is called for no name of theirs. */
static int isAttach(const char *asked)
{
    return asked != NULL && asked[0] == 's' && asked[1] == 'p' && asked[2] == 'r' && asked[3] == 'a' &&
           strcmp(asked, SPRAG_PRELOAD_NAME) == 0;
}

/* Only of the ODE that Sprag works on; another library's, or another ODE's, function stays what it is. */
static void *findTaken(void *handle, const char *asked)
{
    void *const found = spragLateFind(handle, asked), *ours = NULL;
    if (found == NULL || found != spragLateFind(RTLD_NEXT, asked))
        return found;
    PRELOAD_LIST(TAKE)
    return ours;
}

#if defined(__clang__)
#define JUMP __attribute__((musttail)) return
#define AS_JUMP
#else
#define JUMP return
#define AS_JUMP __attribute__((optimize("O2"), no_profile_instrument_function))
#endif

SPRAG_API AS_JUMP void *dlsym(void *restrict handle, const char *restrict name)
{
    if (isTaken(name) && handle != RTLD_NEXT)
        return findTaken(handle, name);
    if (isAttach(name))
        spragPreloadStandAside();
    Find *const find = loader();
    if (find == NULL)
        return NULL;
    JUMP find(handle, name);
}
