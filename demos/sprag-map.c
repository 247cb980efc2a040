/* sprag-map: the plane of friction and a second key of a scene, coloured by the number of solutions.
 *
 * Colours: spragParadoxEnumerate at every pixel.  Lines: spragCriticalEnumerate, the exact friction of each row
 * (maps/row.h); black the fold or cusp, which no load moves, white where solutions of this load meet.  Hatched: rest is
 * one of the solutions (a drawer that locks, a peg that jams). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "maps/options.h"
#include "maps/picture.h"
#include "said.h"
#include "scenes/output.h"
#include "viewer/image.h"

int main(int argc, char **argv)
{
    static Output png;
    MapOptions o = {0};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return mapPrintHelp(), saidAll("sprag-map", 0);
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return printf("sprag-map %s\n", spragVersion()), saidAll("sprag-map", 0);
    char scratch[] = "/tmp/sprag-map-XXXXXX", error[200];
    if (!mapReadOptions(argc, argv, &o))
        return 2;
    if (!outputOpen(&png, o.png, error))
        return mapRefuse("--png: %s", error), 2;
    const int file = mkstemp(scratch);
    Picture p = {o.width + MAP_LEFT + MAP_RIGHT, o.height + MAP_TOP + MAP_BOTTOM, NULL};
    p.rgb = malloc(3 * (size_t)p.width * (size_t)p.height);
    int done = 0;
    if (file < 0 || p.rgb == NULL || !textOpen())
        mapRefuse("%s", file < 0 ? strerror(errno) : "out of memory, or no font");
    else
        done = mapDraw(&o, scratch, &p);
    if (done && !imageWritePng(png.file, p.width, p.height, p.rgb, error, sizeof error))
        done = mapRefuse("--png %s: %s", o.png, error);
    if (!outputClose(&png, done) && done)
        done = mapRefuse("--png %s: cannot be written", o.png);
    if (file >= 0) {
        close(file);
        unlink(scratch);
    }
    textClose();
    free(p.rgb);
    return done ? 0 : 2;
}
