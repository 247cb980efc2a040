/* What the viewer says in numbers: lines of its table, of a plot and of the header.  Nothing is drawn here, so that a
 * test reads it. */
#ifndef DEMOS_VIEWER_WORDS_H
#define DEMOS_VIEWER_WORDS_H

#include <stddef.h>

#include <sprag/sprag_ode.h>

/* The table's columns: N, T, T / (mu N) and slip, then p and b, for which a narrow picture has no place. */
enum { WORDS_COLUMNS = 6, WORDS_COLUMNS_NARROW = 4 };
/* Characters of a line. */
int wordsTableWidth(int columns);

/* x with so many decimals or, where these need more than `width` characters, with fewer, at last with an exponent. */
void wordsNumber(char *out, size_t size, int width, int decimals, double x);
/* The table's head and the line of a contact, its mode left out (5 characters): columns stand under each other,
 * whatever they hold.
 * mu <= 0: there is no bound to compare friction with.  indicators: p and b are known. */
void wordsTableHead(char *out, size_t size, int columns);
void wordsContact(char *out, size_t size, int columns, const spragContact *contact, double mu, int indicators);
/* "slip up to 1 m/s": the greatest value of all; "below" where that is within rounding. */
void wordsPlot(char *out, size_t size, const char *title, const char *unit, double greatest);
/* "3 islands by variant, 1 by newton"; "" if none was solved. */
void wordsSolvers(char *out, size_t size, const spragStepInfo *info);
/* 1: "missed Coulomb's law by up to 0.98 m/s", the greatest residual of a run; 0: "kept Coulomb's law to 2e-12 m/s". */
int wordsVerdict(char *out, size_t size, double residual);

#define WORDS_KEPT 1e-6 /* m/s: a residual up to which the law is kept */

#endif
