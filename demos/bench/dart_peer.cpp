/* DART's solver of boxed LCPs, as its BoxedLcpConstraintSolver has it: for each island a dense W with 1e-5 of its
 * diagonal more (DART's constraint force mixing), friction within a box, Dantzig's method; where that fails, projected
 * Gauss-Seidel.  The time is that of these alone, without what DART takes to form W. */
#include "bench/contact_peer.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <dart/constraint/DantzigBoxedLcpSolver.hpp>
#include <dart/constraint/PgsBoxedLcpSolver.hpp>
#pragma GCC diagnostic pop

namespace
{

constexpr double MIXING = 1e-5;

/* x >= 0 or within its box, w = A x - b complements it; friction rows are bounded by mu times their normal row. */
struct BoxedLcp {
    int n, stride; /* rows, and their distance in A: whole quads */
    std::vector<double> A, x, b, lo, hi;
    std::vector<int> normal; /* -1: it is one */

    BoxedLcp(const spragProblem &problem, const std::vector<int> &contact, const std::vector<int> &place);
    bool isFinite() const;
};

/* place: of each contact in its island. */
BoxedLcp::BoxedLcp(const spragProblem &problem, const std::vector<int> &contact, const std::vector<int> &place)
    : n(3 * static_cast<int>(contact.size())), stride(n > 1 ? (n + 3) / 4 * 4 : 1),
      A(static_cast<size_t>(n) * static_cast<size_t>(stride)), x(static_cast<size_t>(n)), b(x), lo(x), hi(x),
      normal(x.size(), -1)
{
    for (size_t c = 0; c < contact.size(); ++c) {
        const int k = contact[c];
        for (int e = problem.row_start[k]; e < problem.row_start[k + 1]; ++e)
            for (size_t i = 0; i < 3; ++i)
                for (size_t j = 0; j < 3; ++j)
                    A[(3 * c + i) * static_cast<size_t>(stride) +
                      3 * static_cast<size_t>(place[static_cast<size_t>(problem.column[e])]) + j] =
                        problem.W[9 * e + static_cast<int>(3 * i + j)];
        for (size_t i = 0; i < 3; ++i) {
            const size_t row = 3 * c + i;
            A[row * static_cast<size_t>(stride) + row] *= 1 + MIXING;
            b[row] = -problem.q[3 * k + static_cast<int>(i)];
            lo[row] = i == 0 ? 0 : -problem.mu[k];
            hi[row] = i == 0 ? std::numeric_limits<double>::infinity() : problem.mu[k];
            normal[row] = i == 0 ? -1 : static_cast<int>(3 * c);
        }
    }
}

bool BoxedLcp::isFinite() const
{
    for (double value : x)
        if (!std::isfinite(value))
            return false;
    return true;
}

struct DartPeer : ContactPeer {
    dart::constraint::DantzigBoxedLcpSolver dantzig;
    dart::constraint::PgsBoxedLcpSolver sweeps;

    void solveIsland(BoxedLcp &lcp);
};

void DartPeer::solveIsland(BoxedLcp &lcp)
{
    BoxedLcp second = lcp; /* the first overwrites its own */
    const auto run = [](dart::constraint::BoxedLcpSolver &solver, BoxedLcp &of, bool ends_early) {
        return solver.solve(of.n, of.A.data(), of.x.data(), of.b.data(), 0, of.lo.data(), of.hi.data(),
                            of.normal.data(), ends_early);
    };
    if (run(dantzig, lcp, true) && lcp.isFinite())
        return;
    run(sweeps, second, false);
    if (second.isFinite())
        lcp.x = second.x;
    else
        lcp.x.assign(lcp.x.size(), 0);
}

/* Contacts that share bodies, as lists. */
std::vector<std::vector<int>> islandsOf(const spragProblem &problem, std::vector<int> &place)
{
    const size_t count = static_cast<size_t>(problem.contact_count);
    std::vector<int> island(count, -1), stack;
    std::vector<std::vector<int>> list;
    place.assign(count, 0);
    for (int first = 0; first < problem.contact_count; ++first) {
        if (island[static_cast<size_t>(first)] >= 0)
            continue;
        const int number = static_cast<int>(list.size());
        list.emplace_back();
        stack.assign(1, first);
        island[static_cast<size_t>(first)] = number;
        while (!stack.empty()) {
            const int k = stack.back();
            stack.pop_back();
            place[static_cast<size_t>(k)] = static_cast<int>(list.back().size());
            list.back().push_back(k);
            for (int e = problem.row_start[k]; e < problem.row_start[k + 1]; ++e) {
                int &other = island[static_cast<size_t>(problem.column[e])];
                if (other < 0) {
                    other = number;
                    stack.push_back(problem.column[e]);
                }
            }
        }
    }
    return list;
}

double solveSet(ContactPeer *self, const ContactSet *set, double *r)
{
    DartPeer *peer = static_cast<DartPeer *>(self);
    spragProblem problem;
    if (!contactSetProblem(set, &problem))
        return NAN;
    double seconds = 0;
    std::vector<int> place;
    for (const std::vector<int> &contact : islandsOf(problem, place)) {
        BoxedLcp lcp(problem, contact, place);
        const auto begin = std::chrono::steady_clock::now();
        peer->solveIsland(lcp);
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        for (size_t c = 0; c < contact.size(); ++c)
            for (size_t i = 0; i < 3; ++i)
                r[3 * static_cast<size_t>(contact[c]) + i] = lcp.x[3 * c + i];
    }
    contactSetProblemFree(&problem);
    return seconds;
}

} // namespace

ContactPeer *dartPeerMake(int iterations)
{
    DartPeer *peer = new DartPeer;
    peer->solve = solveSet;
    dart::constraint::PgsBoxedLcpSolver::Option option;
    option.mMaxIteration = iterations;
    peer->sweeps.setOption(option);
    return peer;
}
