/* The names of the solvers. */
#include <string.h>

#include <sprag/sprag.h>

static const char *const solver_name[SPRAG_SOLVER_COUNT] = {"auto",  "stock",        "variant",
                                                            "lemke", "gauss-seidel", "newton"};

const char *spragSolverName(spragSolverKind solver)
{
    return (unsigned)solver < SPRAG_SOLVER_COUNT ? solver_name[solver] : "unknown";
}

spragSolverKind spragSolverFind(const char *name)
{
    if (name != NULL)
        for (int k = 0; k < SPRAG_SOLVER_COUNT; ++k)
            if (strcmp(name, solver_name[k]) == 0)
                return (spragSolverKind)k;
    return SPRAG_SOLVER_COUNT;
}

spragSolveOptions spragSolveOptionsDefault(void)
{
    return (spragSolveOptions){.solver = SPRAG_SOLVER_AUTO, .tolerance = 1e-8, .thread_count = 1};
}
