/* A visit of contacts that are the lanes of one computation (greedy_lanes.h), for lanes of any width: included
 * once for each, with
 *
 *     WIDTH            8
 *     V, LAW(name)     its vectors, spragOct, and what linalg/oct.h calls spragOct##name
 *     BY(name)         name##8, also of a macro ROWS8
 *     LAW_INLINE       as functions over them are declared */

/* The contacts, a number of each in a vector; fourth numbers as in spragLaneContact. */
typedef struct BY(Shape) {
    V direction[3][4], arm[2][4], q[4], r[4], own[2][4];
} BY(Shape);

/* What slides, on the cone and with u_n = 0: along the direction that the slip multiplier nu gives the exact size, and
 * one step of Newton for nu (cone_block.h has many), which the next visit begins with.  (The direction of the new
 * nu leaves no less after 40 to 480 visits a contact of 1000 moving boxes or balls, and takes a sixth more time.) */
LAW_INLINE void BY(slip)(const BY(Shape) * s, const V q[3], const V free[2], LAW(Mask) slips, V nu[1], V r[3])
{
    const V zero = {0}, mu = s->q[3], *w = &s->own[0][1], inverse_nn = s->own[1][3];
    const V K11 = s->direction[0][3], K12 = s->direction[1][3], K22 = s->direction[2][3];
    const V a = K11 + *nu, d = K22 + *nu, scale = -1.0F / (a * d - K12 * K12);
    const V x = scale * (d * free[0] - K12 * free[1]), y = scale * (a * free[1] - K12 * free[0]);
    const V square = x * x + y * y, size = LAW(Sqrt)(square);
    const V normal = -(q[0] + w[0] * x + w[1] * y) * inverse_nn, excess = mu * normal - size;
    const V dx = scale * (d * x - K12 * y), dy = scale * (a * y - K12 * x);
    const V dnormal = -(w[0] * dx + w[1] * dy) * inverse_nn;
    const V inverse = 1.0F / (size + FLT_MIN), e[2] = {x * inverse, y * inverse};
    const V newton = *nu - excess / (mu * (dnormal - normal * inverse * (e[0] * dx + e[1] * dy)));
    const LAW(Mask) less = excess < zero;                                                       /* nu is too small */
    const LAW(Mask) good = (newton >= LAW(Select)(less, *nu, zero)) & (less | (newton <= *nu)); /* or it is the root */
    const V any = LAW(Select)(good, newton, LAW(Select)(less, 4 * *nu + K11 + K22, 0.125F * *nu));
    const V most_nu = SPRAG_LANES_NU_MOST * (K11 + K22), next = LAW(Select)(any < most_nu, any, most_nu);
    *nu = LAW(Select)(slips, next, *nu);
    const V along = s->own[0][0] + mu * (w[0] * e[0] + w[1] * e[1]);
    /* a branch of negative slope: keep what the root says */
    const LAW(Mask) rises = (along > zero) & (q[0] < zero);
    const V load = LAW(Select)(rises, -q[0], size) / LAW(Select)(rises, along, mu);
    r[0] = LAW(Select)(slips, load, r[0]);
    r[1] = LAW(Select)(slips, mu * load * e[0], r[1]);
    r[2] = LAW(Select)(slips, mu * load * e[1], r[2]);
}

/* What is not pressed but held, as in greedy_roll.h.  (Where nothing slips C_k is 0 along its tangents, and the
 * block itself has no rounding of K.) */
LAW_INLINE void BY(hold)(const BY(Shape) * s, int slips, const V q[3], LAW(Mask) holds, V r[3])
{
    const V zero = {0}, *w = &s->own[0][1], inverse_nn = s->own[1][3];
    const V a = slips ? s->direction[0][3] + w[0] * w[0] * inverse_nn : s->own[0][3], b = s->own[1][0],
            d = slips ? s->direction[2][3] + w[1] * w[1] * inverse_nn : s->own[1][1], scale = 1.0F / (a * d - b * b);
    r[0] = LAW(Select)(holds, zero, r[0]);
    r[1] = LAW(Select)(holds, scale * (b * q[2] - d * q[1]), r[1]);
    r[2] = LAW(Select)(holds, scale * (b * q[1] - a * q[2]), r[2]);
}

/* q: velocities without their own impulses; sticks: some have mu = infinity; 2: and slip (spragGreedyLanes) */
LAW_INLINE void BY(solve)(const BY(Shape) * s, int sticks, const V q[3], V nu[1], V r[3])
{
    const V zero = {0}, mu = s->q[3], *w = &s->own[0][1], inverse_nn = s->own[1][3], ratio = q[0] * inverse_nn;
    const V K11 = s->direction[0][3], K12 = s->direction[1][3], K22 = s->direction[2][3];
    const V free[2] = {q[1] - w[0] * ratio, q[2] - w[1] * ratio}, scale = 1.0F / (K11 * K22 - K12 * K12);
    const LAW(Mask) holds = (mu < -FLT_MAX) | (mu > FLT_MAX);
    const LAW(Mask) closed = q[0] < zero, rough = holds | (closed & (mu > zero));
    r[1] = (K12 * free[1] - K22 * free[0]) * scale;
    r[2] = (K12 * free[0] - K11 * free[1]) * scale;
    r[0] = -(q[0] + w[0] * r[1] + w[1] * r[2]) * inverse_nn;
    const LAW(Mask) outside = (r[0] < zero) | (r[1] * r[1] + r[2] * r[2] > mu * mu * r[0] * r[0]);
    BY(slip)(s, q, free, outside & rough & ~holds, nu, r);
    if (sticks)
        BY(hold)(s, sticks == 2, q, holds & (r[0] < zero), r);
    r[0] = LAW(Select)(rough, r[0], LAW(Select)(closed, -ratio, zero));
    r[1] = LAW(Select)(rough, r[1], zero);
    r[2] = LAW(Select)(rough, r[2], zero);
}

/* Single precision has no room for squares below 1e-45 or above 1e38: where a solution is not finite, the last one
 * stays, and the slip multiplier begins anew. */
LAW_INLINE void BY(keepFinite)(const V last[3], V nu[1], V r[3])
{
    const V zero = {0}, none = 0.0F * (r[0] + r[1] + r[2] + *nu);
    const LAW(Mask) finite = none == zero;
    for (int i = 0; i < 3; ++i)
        r[i] = LAW(Select)(finite, r[i], last[i]);
    *nu = LAW(Select)(finite, *nu, zero);
}

/* Velocity of side's point, that of the other side already in v. */
LAW_INLINE void BY(addMotion)(V velocity[2][4], const V arm[4], float sign, V v[3])
{
    V turn[3];
    LAW(Cross3)(turn, velocity[1], arm);
    for (int i = 0; i < 3; ++i)
        v[i] += sign * (velocity[0][i] + turn[i]);
}

/* Impulse p on the side's bodies at their arms. */
LAW_INLINE void BY(push)(spragLaneBody *const *body, const V arm[4], float sign, const V p[3], V velocity[2][4])
{
    V I[2][4], s[3];
    LAW(ReadPairs)(BY(ROWS)(body, inertia[0]), I[0], I[1]);
    LAW(Cross3)(s, arm, p);
    for (int i = 0; i < 3; ++i)
        velocity[0][i] += sign * (p[i] * I[0][3]);
    velocity[1][0] += sign * (I[0][0] * s[0] + I[0][1] * s[1] + I[0][2] * s[2]);
    velocity[1][1] += sign * (I[0][1] * s[0] + I[1][0] * s[1] + I[1][1] * s[2]);
    velocity[1][2] += sign * (I[0][2] * s[0] + I[1][1] * s[1] + I[1][2] * s[2]);
    LAW(WritePairs)(BY(ROWS)(body, velocity[0]), velocity[0], velocity[1]);
}

/* How they answer to the velocities of their bodies: s->r becomes `fresh` (the fourth: the slip multiplier), dr from
 * where momentum has taken it, s->r + ahead.  body[side]: one of each. */
LAW_INLINE void BY(answer)(const BY(Shape) * s, int sticks, spragLaneBody *const *const body[2], const V ahead[3],
                           V velocity[2][2][4], V fresh[4], V dr[3])
{
    V v[3] = {{0}, {0}, {0}}, q[3], r[3];
    for (int side = 0; side < 2; ++side) {
        LAW(ReadPairs)(BY(ROWS)(body[side], velocity[0]), velocity[side][0], velocity[side][1]);
        BY(addMotion)(velocity[side], s->arm[side], side == 0 ? 1 : -1, v);
    }
    for (int i = 0; i < 3; ++i)
        r[i] = s->r[i] + ahead[i];
    const V own[3][3] = {{s->own[1][2], s->own[0][1], s->own[0][2]},
                         {s->own[0][1], s->own[0][3], s->own[1][0]},
                         {s->own[0][2], s->own[1][0], s->own[1][1]}};
    for (int i = 0; i < 3; ++i)
        q[i] = s->q[i] + LAW(Dot3)(s->direction[i], v) - LAW(Dot3)(own[i], r);
    fresh[3] = s->r[3];
    BY(solve)(s, sticks, q, fresh + 3, fresh);
    BY(keepFinite)(s->r, fresh + 3, fresh);
    for (int i = 0; i < 3; ++i)
        dr[i] = fresh[i] - r[i];
}

/* The same, and their bodies move. */
LAW_INLINE void BY(visit)(const BY(Shape) * s, int sticks, spragLaneBody *const *const body[2], const V ahead[3],
                          V fresh[4], V dr[3])
{
    V velocity[2][2][4], p[3];
    BY(answer)(s, sticks, body, ahead, velocity, fresh, dr);
    for (int i = 0; i < 3; ++i)
        p[i] = s->direction[0][i] * dr[0] + s->direction[1][i] * dr[1] + s->direction[2][i] * dr[2];
    BY(push)(body[0], s->arm[0], 1, p, velocity[0]);
    BY(push)(body[1], s->arm[1], -1, p, velocity[1]);
}
