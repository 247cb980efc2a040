#define _GNU_SOURCE
#include "preload/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "SPRAG_TREE"

enum { DESCRIPTOR_LEAST = 200 }; /* shells and programs count on the low ones */

static long outermost; /* its process; 0: no tree */
static int mark = -1;  /* the file, or none */

/* Size of the file if it is the one with this inode, or -1. */
static long sizeOf(int descriptor, unsigned long long inode)
{
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || (unsigned long long)status.st_ino != inode)
        return -1;
    return (long)status.st_size;
}

static unsigned long long inodeOf(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 ? (unsigned long long)status.st_ino : 0;
}

static void plant(void)
{
    char value[96];
    const int made = memfd_create("sprag-tree", 0);
    mark = made < 0 ? -1 : fcntl(made, F_DUPFD, DESCRIPTOR_LEAST);
    if (made >= 0)
        close(made);
    outermost = (long)getpid();
    snprintf(value, sizeof value, "%ld:%d:%llu", outermost, mark, mark < 0 ? 0 : inodeOf(mark));
    setenv(VARIABLE, value, 1);
}

void spragTreeJoin(void)
{
    const char *value = getenv(VARIABLE);
    unsigned long long inode;
    if (value == NULL || sscanf(value, "%ld:%d:%llu", &outermost, &mark, &inode) != 3 || outermost <= 0)
        plant();
    else if (sizeOf(mark, inode) < 0)
        mark = -1; /* a program on the way has closed it */
}

void spragTreeUsesOde(void)
{
    if (mark >= 0 && write(mark, "!", 1) != 1)
        mark = -1;
}

int spragTreeIsWithoutOde(void)
{
    return outermost == (long)getpid() && !(mark >= 0 && sizeOf(mark, inodeOf(mark)) > 0);
}
