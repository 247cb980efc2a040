/* One process tree, one word: a game's start script runs sh, grep and sed under
 * the preload too, and none of them has ODE.
 *
 * Where a report is wanted the outermost process makes an empty file without a name, which its children inherit, and
 * says in the environment where: SPRAG_TREE=PID:DESCRIPTOR:INODE.  Who calls ODE writes a byte there.  If it is still
 * empty when the outermost process ends, nobody did, and that one says so for all. */
#ifndef SPRAG_PRELOAD_TREE_H
#define SPRAG_PRELOAD_TREE_H

/* At the start of the process. */
void spragTreeJoin(void);
/* This process calls ODE. */
void spragTreeUsesOde(void);
/* At its end: 1 in the outermost process if none of the tree has called ODE. */
int spragTreeIsWithoutOde(void);

#endif
