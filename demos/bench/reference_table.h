/* Rods and tops against the reference values (tests/data/oracle_open.json; SPRAG_ORACLE names another file). */
#ifndef DEMOS_BENCH_REFERENCE_TABLE_H
#define DEMOS_BENCH_REFERENCE_TABLE_H

/* Prints, per case, the error of the state at the last sample under stock ODE and under Sprag. */
void benchReferenceTable(void);

#endif
