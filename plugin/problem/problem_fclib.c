/* FCLib's HDF5 files (frictionalcontactlibrary, 3.1).  Read with HDF5 itself: FCLib's own reader prints and ends the
 * process on what it does not expect.
 *
 * fclib_local:   u = W r + q.
 * fclib_global:  M v = H r + f,  u = H' v + w  (problem_global.h).
 *
 * spacedim is 3, or 2 in the plane (problem_entries.h).  A matrix has m, n, nz, nzmax, p, i, x: nz >= 0 triplets (i
 * rows, p columns, as in CSparse; FCLib's header says it the other way round, its files do not), -1 compressed
 * columns, -2 compressed rows.  Files with the extension that are no HDF5 are tried as Siconos text.  What is
 * inside a sound HDF5 file may be anything; against damaged HDF5 structures we are as safe as libhdf5 is (1.10 can
 * crash in H5HL_protect on a forged heap size). */
#include "problem/problem_fclib.h"

#include "base/status.h"

#ifndef SPRAG_HDF5_SONAME

spragStatus spragFclibRead(const char *path, spragProblem **out)
{
    (void)out;
    return spragFail(SPRAG_ERROR_UNSUPPORTED, "%s: this build of Sprag cannot read HDF5", path);
}

spragStatus spragFclibWrite(const spragProblem *problem, const char *path)
{
    (void)problem;
    return spragFail(SPRAG_ERROR_UNSUPPORTED, "%s: this build of Sprag cannot write HDF5", path);
}

#else

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "problem/hdf5_late.h"
#include "problem/problem_global.h"
#include "problem/problem_siconos.h"
#include "problem/residual.h"

/* HDF5's own H5F_ACC_RDONLY and H5F_ACC_TRUNC call its functions by name. */
enum { RDONLY = 0, TRUNCATE = 2 };

/* ---------------------------------------------------------------- datasets */

typedef struct Input {
    const spragHdf5 *h5;
    hid_t file;
    const char *path;
    spragStatus status; /* first failure */
} Input;

static spragStatus refuse(Input *in, const char *name, const char *expected)
{
    if (in->status == SPRAG_OK)
        in->status = spragFail(SPRAG_ERROR_FORMAT, "%s: dataset %s: expected %s", in->path, name, expected);
    return in->status;
}

/* 1: the file is large enough for what the dataset declares.  If it is not it is damaged, or a few bytes that make a
 * reader ask for all memory.  Deflation shrinks to 1/1032 at best. */
static int isStored(const spragHdf5 *h5, hid_t set, hssize_t points)
{
    const hid_t type = h5->H5Dget_type(set), creation = h5->H5Dget_create_plist(set);
    const double declared = (double)points * (double)h5->H5Tget_size(type),
                 stored = (double)h5->H5Dget_storage_size(set);
    const int whole = h5->H5Pget_layout(creation) == H5D_CHUNKED ? declared <= 1032 * stored : declared <= stored;
    h5->H5Tclose(type);
    h5->H5Pclose(creation);
    return whole;
}

/* A dataset of at least `least` numbers (exactly, if `exact`), as type; NULL after a failure. */
static void *readArray(Input *in, const char *name, hid_t type, size_t size, hsize_t least, int exact)
{
    if (in->status != SPRAG_OK)
        return NULL;
    const hid_t set = in->h5->H5Dopen2(in->file, name, H5P_DEFAULT);
    if (set < 0) {
        refuse(in, name, "it to exist");
        return NULL;
    }
    const hid_t space = in->h5->H5Dget_space(set);
    const hssize_t points = space >= 0 ? in->h5->H5Sget_simple_extent_npoints(space) : -1;
    void *data = NULL;
    if (points < 0 || (hsize_t)points < least || (exact && (hsize_t)points != least)) {
        char expected[64];
        snprintf(expected, sizeof expected, "%llu numbers, has %lld", (unsigned long long)least, (long long)points);
        refuse(in, name, expected);
    } else if (!isStored(in->h5, set, points)) {
        refuse(in, name, "as many bytes in the file as it declares");
    } else {
        data = spragAlloc((size_t)points + 1, size);
        if (data == NULL)
            in->status = spragFail(SPRAG_ERROR_MEMORY, "%s: out of memory", in->path);
        else if (in->h5->H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
            refuse(in, name, "numbers that can be read");
    }
    if (space >= 0)
        in->h5->H5Sclose(space);
    in->h5->H5Dclose(set);
    if (in->status != SPRAG_OK) {
        spragFree(data);
        return NULL;
    }
    return data;
}

static int readInt(Input *in, const char *name)
{
    int *value = readArray(in, name, in->h5->native_int, sizeof *value, 1, 0);
    const int result = value != NULL ? *value : 0;
    spragFree(value);
    return result;
}

static double *readVector(Input *in, const char *name, int count)
{
    double *x = readArray(in, name, in->h5->native_double, sizeof *x, (hsize_t)count, 1);
    for (int i = 0; x != NULL && i < count; ++i)
        if (!isfinite(x[i])) {
            in->status =
                spragFail(SPRAG_ERROR_NOT_FINITE, "%s: dataset %s: number %d is not finite", in->path, name, i);
            spragFree(x);
            return NULL;
        }
    return x;
}

/* The matrix in `group`: its size, and its scalar entries. */
static void readMatrix(Input *in, const char *group, int *rows, int *columns, spragEntries *entries)
{
    char name[7][64];
    static const char *const part[7] = {"m", "n", "nz", "nzmax", "p", "i", "x"};
    for (int k = 0; k < 7; ++k)
        snprintf(name[k], sizeof name[k], "%s/%s", group, part[k]);
    *rows = readInt(in, name[0]), *columns = readInt(in, name[1]);
    const int nz = readInt(in, name[2]), most = readInt(in, name[3]);
    if (in->status != SPRAG_OK)
        return;
    if (*rows < 1 || *columns < 1 || nz < -2 || *rows > SPRAG_BLOCKS_MOST || *columns > SPRAG_BLOCKS_MOST) {
        refuse(in, group, "m, n > 0 (below 2^27) and nz >= -2");
        return;
    }
    const int lines = nz == -1 ? *columns : *rows, count = nz >= 0 ? nz : most;
    int *p = readArray(in, name[4], in->h5->native_int, sizeof *p, nz >= 0 ? (hsize_t)nz : (hsize_t)lines + 1, 0);
    if (p != NULL && nz < 0 && (p[0] != 0 || p[lines] < 0 || p[lines] > count))
        refuse(in, name[4], "pointers from 0 to at most nzmax");
    for (int line = 0; in->status == SPRAG_OK && nz < 0 && line < lines; ++line)
        if (p[line] > p[line + 1])
            refuse(in, name[4], "pointers that never fall");
    const int used = p != NULL && nz < 0 ? p[lines] : count;
    int *index = readArray(in, name[5], in->h5->native_int, sizeof *index, (hsize_t)used, 0);
    double *x = readArray(in, name[6], in->h5->native_double, sizeof *x, (hsize_t)used, 0);
    for (int e = 0, line = 0; in->status == SPRAG_OK && e < used; ++e) {
        while (nz < 0 && line < lines && e >= p[line + 1])
            ++line;
        const int i = nz == -2 ? line : index[e], j = nz >= 0 ? p[e] : nz == -1 ? line : index[e];
        if (i < 0 || i >= *rows || j < 0 || j >= *columns)
            refuse(in, group, "indices from 0, below m and n");
        else if (!isfinite(x[e]))
            in->status =
                spragFail(SPRAG_ERROR_NOT_FINITE, "%s: dataset %s: number %d is not finite", in->path, name[6], e);
        else if (!spragEntriesAdd(entries, i, j, x[e]))
            in->status = spragFail(SPRAG_ERROR_MEMORY, "%s: out of memory", in->path);
    }
    spragFree(p);
    spragFree(index);
    spragFree(x);
}

/* ---------------------------------------------------------------- the two kinds of file */

/* 3 or 2 */
static int readDimension(Input *in, const char *name)
{
    const int d = readInt(in, name);
    if (d != 2 && d != 3)
        refuse(in, name, "3, or 2 in the plane");
    return d == 2 ? 2 : 3;
}

/* W (rows x rows), q (rows) and the dataset of mu (rows / d) become *out, where nothing has failed before. */
static void assemble(Input *in, int d, const spragEntries *W, int rows, const double *q, const char *mu_name,
                     spragProblem **out)
{
    if (in->status == SPRAG_OK && rows % d != 0)
        refuse(in, "W", d == 3 ? "a multiple of 3 rows" : "a multiple of 2 rows");
    double *mu = readVector(in, mu_name, rows / d);
    for (int k = 0; in->status == SPRAG_OK && k < rows / d; ++k)
        if (mu[k] < 0) {
            char expected[64];
            snprintf(expected, sizeof expected, "mu >= 0, number %d is %g", k, mu[k]);
            refuse(in, mu_name, expected);
        }
    if (in->status == SPRAG_OK) {
        spragProblemData *data = spragEntriesProblem(W, rows / d, d, q, mu);
        in->status = data != NULL ? spragProblemFinish(data, in->path, out)
                                  : spragFail(SPRAG_ERROR_MEMORY, "%s: out of memory", in->path);
    }
    spragFree(mu);
}

static void readLocal(Input *in, spragProblem **out)
{
    spragEntries W = {0};
    int rows = 0, columns = 0;
    const int d = readDimension(in, "fclib_local/spacedim");
    if (in->h5->H5Lexists(in->file, "fclib_local/R", H5P_DEFAULT) > 0)
        refuse(in, "fclib_local/R", "no equality constraints (not supported)");
    readMatrix(in, "fclib_local/W", &rows, &columns, &W);
    if (rows != columns)
        refuse(in, "fclib_local/W", "a square matrix");
    double *q = readVector(in, "fclib_local/vectors/q", rows);
    assemble(in, d, &W, rows, q, "fclib_local/vectors/mu", out);
    spragFree(q);
    spragEntriesFree(&W);
}

static void readGlobal(Input *in, spragProblem **out)
{
    spragGlobal g = {0};
    int square = 0, rows = 0;
    const int d = readDimension(in, "fclib_global/spacedim");
    if (in->h5->H5Lexists(in->file, "fclib_global/G", H5P_DEFAULT) > 0)
        refuse(in, "fclib_global/G", "no equality constraints (not supported)");
    readMatrix(in, "fclib_global/M", &g.n, &square, &g.M);
    readMatrix(in, "fclib_global/H", &rows, &g.m, &g.H);
    if (g.n != square || g.n != rows)
        refuse(in, "fclib_global/H", "as many rows as M, and M square");
    g.f = readVector(in, "fclib_global/vectors/f", g.n);
    g.w = readVector(in, "fclib_global/vectors/w", g.m);
    if (in->status == SPRAG_OK)
        in->status = spragGlobalEliminate(&g, in->path);
    assemble(in, d, &g.W, g.m, g.q, "fclib_global/vectors/mu", out);
    spragGlobalFree(&g);
}

spragStatus spragFclibRead(const char *path, spragProblem **out)
{
    const spragHdf5 *h5 = spragHdf5Load();
    if (h5 == NULL)
        return spragFail(SPRAG_ERROR_UNSUPPORTED, "%s: " SPRAG_HDF5_SONAME ", which reads it, cannot be loaded", path);
    H5E_auto2_t printer;
    void *data;
    h5->H5Eget_auto2(H5E_DEFAULT, &printer, &data);
    h5->H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the library never prints */
    Input in = {.h5 = h5, .path = path, .status = SPRAG_OK};
    if (h5->H5Fis_hdf5(path) <= 0) {
        in.status = spragSiconosTextRead(path, out); /* as Siconos' own tests name some */
    } else if ((in.file = h5->H5Fopen(path, RDONLY, H5P_DEFAULT)) < 0) {
        in.status = spragFail(SPRAG_ERROR_FORMAT, "%s: a damaged HDF5 file", path);
    } else {
        if (h5->H5Lexists(in.file, "fclib_local", H5P_DEFAULT) > 0)
            readLocal(&in, out);
        else if (h5->H5Lexists(in.file, "fclib_global", H5P_DEFAULT) > 0)
            readGlobal(&in, out);
        else
            in.status = spragFail(SPRAG_ERROR_FORMAT, "%s: expected a group fclib_local or fclib_global", path);
        h5->H5Fclose(in.file);
    }
    h5->H5Eset_auto2(H5E_DEFAULT, printer, data);
    return in.status;
}

/* ---------------------------------------------------------------- writing */

static int writeArray(const spragHdf5 *h5, hid_t file, const char *name, hid_t type, hsize_t count, const void *data)
{
    const hid_t space = h5->H5Screate_simple(1, &count, NULL);
    const hid_t set = h5->H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const int good = set >= 0 && h5->H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    if (set >= 0)
        h5->H5Dclose(set);
    h5->H5Sclose(space);
    return good;
}

static int writeInt(const spragHdf5 *h5, hid_t file, const char *name, int value)
{
    return writeArray(h5, file, name, h5->native_int, 1, &value);
}

/* W in compressed rows. */
static int writeW(const spragHdf5 *h5, hid_t file, const spragProblem *problem)
{
    const int n = 3 * problem->contact_count, count = 9 * problem->block_count;
    int *p = spragAlloc((size_t)n + 1, sizeof *p), *index = spragAlloc((size_t)count, sizeof *index);
    double *x = spragAlloc((size_t)count, sizeof *x);
    int good = p != NULL && index != NULL && x != NULL;
    for (int i = 0, e = 0; good && i < n; ++i) {
        for (int b = problem->row_start[i / 3]; b < problem->row_start[i / 3 + 1]; ++b)
            for (int j = 0; j < 3; ++j, ++e) {
                index[e] = 3 * problem->column[b] + j;
                x[e] = problem->W[9 * (size_t)b + (size_t)(3 * (i % 3) + j)];
            }
        p[i + 1] = e;
    }
    good = good && writeInt(h5, file, "fclib_local/W/m", n) && writeInt(h5, file, "fclib_local/W/n", n) &&
           writeInt(h5, file, "fclib_local/W/nz", -2) && writeInt(h5, file, "fclib_local/W/nzmax", count) &&
           writeArray(h5, file, "fclib_local/W/p", h5->native_int, (hsize_t)n + 1, p) &&
           writeArray(h5, file, "fclib_local/W/i", h5->native_int, (hsize_t)count, index) &&
           writeArray(h5, file, "fclib_local/W/x", h5->native_double, (hsize_t)count, x);
    spragFree(p);
    spragFree(index);
    spragFree(x);
    return good;
}

static int makeGroup(const spragHdf5 *h5, hid_t file, const char *name)
{
    const hid_t group = h5->H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return group >= 0 && h5->H5Gclose(group) >= 0;
}

spragStatus spragFclibWrite(const spragProblem *problem, const char *path)
{
    for (int k = 0; k < problem->contact_count; ++k)
        if (spragKindOf(problem, k) != SPRAG_BLOCK_CONTACT)
            return spragFail(SPRAG_ERROR_UNSUPPORTED, "%s: block %d is no one-sided contact; FCLib knows nothing else",
                             path, k);
    const spragHdf5 *h5 = spragHdf5Load();
    if (h5 == NULL)
        return spragFail(SPRAG_ERROR_UNSUPPORTED, "%s: " SPRAG_HDF5_SONAME ", which writes it, cannot be loaded", path);
    H5E_auto2_t printer;
    void *data;
    h5->H5Eget_auto2(H5E_DEFAULT, &printer, &data);
    h5->H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = h5->H5Fcreate(path, TRUNCATE, H5P_DEFAULT, H5P_DEFAULT);
    int good =
        file >= 0 && makeGroup(h5, file, "fclib_local") && makeGroup(h5, file, "fclib_local/W") &&
        makeGroup(h5, file, "fclib_local/vectors") && writeInt(h5, file, "fclib_local/spacedim", 3) &&
        writeW(h5, file, problem) &&
        writeArray(h5, file, "fclib_local/vectors/q", h5->native_double, 3 * (hsize_t)problem->contact_count,
                   problem->q) &&
        writeArray(h5, file, "fclib_local/vectors/mu", h5->native_double, (hsize_t)problem->contact_count, problem->mu);
    if (file >= 0) {
        good = h5->H5Fclose(file) >= 0 && good;
        if (!good)
            remove(path);
    }
    h5->H5Eset_auto2(H5E_DEFAULT, printer, data);
    return good ? SPRAG_OK : spragFail(SPRAG_ERROR_FILE, "%s: could not be written", path);
}

#endif
