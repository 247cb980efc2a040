/* SPRAG_EVENTS: every event as one JSON object a line.  One file for all processes of a program. */
#ifndef SPRAG_PRELOAD_EVENT_FILE_H
#define SPRAG_PRELOAD_EVENT_FILE_H

#include <sprag/sprag_ode.h>

/* The first process that opens the path empties the file, what it starts appends to it.  0: it cannot be written. */
int spragEventFileOpen(const char *path);
/* Keeps the event until there are enough of them, or spragEventFileFlush.  Not open: nothing. */
void spragEventFileAdd(const spragEvent *event);
/* Writes what is kept, in whole lines: so that they stay whole however the process ends, and though another one writes
 * to the same file. */
void spragEventFileFlush(void);
void spragEventFileClose(void);
/* What went wrong in writing, a sentence; "": nothing. */
const char *spragEventFileError(void);

#endif
