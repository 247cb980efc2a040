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
static int mark = -1;  /* the descriptor of the file, or none */
static unsigned long long
    inode; /* of the file: a program may close the descriptor, and have it for a file of its own */

/* Of the file, or -1: it is not open here. */
static long size(void)
{
    struct stat status;
    if (mark < 0 || fstat(mark, &status) != 0 || (unsigned long long)status.st_ino != inode)
        return -1;
    return (long)status.st_size;
}

static void plant(void)
{
    char value[96];
    struct stat status;
    const int made = memfd_create("sprag-tree", 0);
    mark = made < 0 ? -1 : fcntl(made, F_DUPFD, DESCRIPTOR_LEAST);
    if (made >= 0)
        close(made);
    outermost = (long)getpid();
    inode = mark >= 0 && fstat(mark, &status) == 0 ? (unsigned long long)status.st_ino : 0;
    snprintf(value, sizeof value, "%ld:%d:%llu", outermost, mark, inode);
    setenv(VARIABLE, value, 1);
}

void spragTreeJoin(void)
{
    const char *value = getenv(VARIABLE);
    if (value == NULL || sscanf(value, "%ld:%d:%llu", &outermost, &mark, &inode) != 3 || outermost <= 0)
        plant();
    else if (size() < 0)
        mark = -1; /* a program on the way has closed it */
}

void spragTreeUsesOde(void)
{
    if (size() >= 0 && write(mark, "!", 1) != 1)
        mark = -1;
}

int spragTreeIsWithoutOde(void)
{
    return outermost == (long)getpid() && size() <= 0;
}
