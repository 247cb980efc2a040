/* Every attachment between attach and detach, and the watch over their worlds.
 *
 * A handle is looked up before it is followed, so that a detached one is an error and not a crash.  That a world is
 * gone ODE tells nobody; but a dxWorld is freed through the handler of dSetFreeHandler, so the first attachment puts
 * one in place which looks for attached worlds and passes everything on.  The last one to go takes it out again,
 * unless the host has set another on top of it. */
#ifndef SPRAG_API_ATTACHMENTS_H
#define SPRAG_API_ATTACHMENTS_H

#include <sprag/sprag_ode.h>

/* The attachment is made, and not in the list yet. */
void spragAttachmentsAdd(spragWorldID world);
/* 1, and it is out; 0: it was none. */
int spragAttachmentsRemove(spragWorldID world);

/* SPRAG_OK; NULL, STALE: detached, or none, or its dWorld was destroyed. */
spragStatus spragAttachmentsCheck(spragWorldID world);
/* 1: it is attached, and in a step or telling its events. */
int spragAttachmentsIsStepping(spragWorldID world);
/* The attachment that holds the guide, or NULL. */
spragWorldID spragAttachmentsOfGuide(spragGuideID guide);

#endif
