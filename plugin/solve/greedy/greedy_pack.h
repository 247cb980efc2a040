/* Sweeps of greedy_sweep.c over packs of contacts, each number of which lies side by side.  A pack is one vector
 * wide, or comes in parts, which have no body in common: so any width gives the same bits.  For vectors of any width,
 * as solve/greedy/greedy_law.h. */

typedef struct BY(Packed) {
    BY(Shape) shape;
    V before[3];        /* r of the sweep before the last one */
    int body[2][WIDTH]; /* bytes from the first one */
} BY(Packed);

/* Contacts of the pack, from where they are. */
LAW_INLINE void BY(takeIn)(const spragGreedyLanes *lanes, const int *number, BY(Packed) * pack)
{
    const spragLaneContact *contact[WIDTH];
    BY(Shape) *s = &pack->shape;
    for (int i = 0; i < WIDTH; ++i) {
        contact[i] = &lanes->contact[number[i]];
        pack->body[0][i] = lanes->first[number[i]] * (int)sizeof(spragLaneBody);
        pack->body[1][i] = lanes->second[number[i]] * (int)sizeof(spragLaneBody);
    }
    for (int i = 0; i < 3; ++i)
        LAW(Read)(BY(ROWS)(contact, direction[i]), s->direction[i]);
    for (int i = 0; i < 2; ++i) {
        LAW(Read)(BY(ROWS)(contact, arm[i]), s->arm[i]);
        LAW(Read)(BY(ROWS)(contact, own[i]), s->own[i]);
    }
    LAW(Read)(BY(ROWS)(contact, q), s->q);
    LAW(Read)(BY(ROWS)(contact, r), s->r);
    memcpy(pack->before, s->r, sizeof pack->before);
}

LAW_INLINE void BY(takeAll)(const Sweep *sweep)
{
    const spragGreedyLanes *lanes = sweep->lanes;
    BY(Packed) *pack = lanes->packed;
    for (int p = 0; p < lanes->pack_count * (SPRAG_PACK / WIDTH); ++p)
        BY(takeIn)(lanes, lanes->pack + p * WIDTH, &pack[p]);
}

LAW_INLINE void BY(findBodies)(const spragGreedyLanes *lanes, const BY(Packed) * pack, spragLaneBody *body[2][WIDTH])
{
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < WIDTH; ++i)
            body[side][i] = (spragLaneBody *)(void *)((char *)lanes->body + pack->body[side][i]);
}

/* Back again, and what each would change by another visit is what it may hope for from then on. */
LAW_INLINE void BY(giveAll)(const Sweep *sweep)
{
    const spragGreedyLanes *lanes = sweep->lanes;
    const BY(Packed) *pack = lanes->packed;
    for (int p = 0; p < lanes->pack_count * (SPRAG_PACK / WIDTH); ++p) {
        const int *number = lanes->pack + p * WIDTH;
        const BY(Shape) *s = &pack[p].shape;
        spragLaneContact *contact[WIDTH];
        spragLaneBody *body[2][WIDTH];
        const V ahead[3] = {{0}, {0}, {0}};
        V velocity[2][2][4], fresh[4], dr[3];
        BY(findBodies)(lanes, &pack[p], body);
        BY(answer)(s, sweep->sticks, (spragLaneBody *const *const[2]){body[0], body[1]}, ahead, velocity, fresh, dr);
        const V change = LAW(Sqrt)(LAW(Dot3)(dr, dr)) * (s->arm[0][3] + s->arm[1][3]);
        for (int i = 0; i < WIDTH; ++i) {
            contact[i] = &lanes->contact[number[i]];
            lanes->seen[number[i]] = -change[i] / lanes->gain[number[i]];
        }
        LAW(Write)(BY(ROWS)(contact, r), s->r);
    }
}

typedef struct BY(Sums) {
    V along, greatest;
} BY(Sums);

LAW_INLINE void BY(visitPack)(const Sweep *sweep, V momentum, BY(Packed) * pack, BY(Sums) * sums)
{
    BY(Shape) *s = &pack->shape;
    spragLaneBody *body[2][WIDTH];
    V ahead[3], fresh[4], dr[3], since[3];
    BY(findBodies)(sweep->lanes, pack, body);
    for (int i = 0; i < 3; ++i)
        ahead[i] = momentum * (s->r[i] - pack->before[i]);
    BY(visit)(s, sweep->sticks, (spragLaneBody *const *const[2]){body[0], body[1]}, ahead, fresh, dr);
    for (int i = 0; i < 3; ++i) {
        since[i] = fresh[i] - s->r[i];
        pack->before[i] = s->r[i];
        s->r[i] = fresh[i];
    }
    s->r[3] = fresh[3];
    const V weight = s->arm[0][3] + s->arm[1][3];
    sums->greatest = LAW(Max)(LAW(Dot3)(dr, dr) * weight * weight, sums->greatest);
    sums->along += LAW(Dot3)(dr, since) * weight;
}

LAW_INLINE void BY(sweepAll)(Sweep *sweep)
{
    enum { EACH = SPRAG_PACK / WIDTH };
    const V momentum = LAW(Of)(sweep->momentum);
    BY(Packed) *pack = sweep->lanes->packed;
    BY(Sums) sums[EACH] = {{{0}, {0}}};
    for (int p = 0; p < sweep->lanes->pack_count; ++p)
        for (int part = 0; part < EACH; ++part)
            BY(visitPack)(sweep, momentum, &pack[p * EACH + part], &sums[part]);
    for (int i = 0; i < SPRAG_PACK; ++i) {
        sweep->along += (double)sums[i / WIDTH].along[i % WIDTH];
        sweep->greatest = fmax(sweep->greatest, (double)sums[i / WIDTH].greatest[i % WIDTH]);
    }
    sweep->greatest = sqrt(sweep->greatest);
}
