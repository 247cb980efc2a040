#ifdef SPRAG_HDF5_SONAME

#include "problem/hdf5_late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static spragHdf5 hdf5;
static int loaded;

/* The loader gives functions as void *, which C does not convert. */
static int find(void *library, const char *name, void *to, size_t size)
{
    void *const symbol = dlsym(library, name);
    memcpy(to, &symbol, size);
    return symbol != NULL;
}

/* The value of a variable that H5open has set: the library's, or, in a program that is linked to HDF5 itself, the
 * program's copy of it.  0: there is none. */
static hid_t typeOf(void *library, const char *name)
{
    void *const handle[] = {library, RTLD_DEFAULT};
    const hid_t *type = NULL;
    for (int k = 0; k < 2 && !(type != NULL && *type > 0); ++k)
        find(handle[k], name, &type, sizeof type);
    return type != NULL ? *type : 0;
}

/* It stays: HDF5 leaves functions to be called at exit. */
static void load(void)
{
    void *const library = dlopen(SPRAG_HDF5_SONAME, RTLD_NOW | RTLD_LOCAL);
    loaded = library != NULL;
#define FIND(name) loaded = loaded && find(library, #name, &hdf5.name, sizeof hdf5.name);
    SPRAG_HDF5_FUNCTIONS(FIND)
#undef FIND
    if (loaded && hdf5.H5open() >= 0) {
        hdf5.native_int = typeOf(library, "H5T_NATIVE_INT_g");
        hdf5.native_double = typeOf(library, "H5T_NATIVE_DOUBLE_g");
    }
    loaded = loaded && hdf5.native_int > 0 && hdf5.native_double > 0;
}

const spragHdf5 *spragHdf5Load(void)
{
    pthread_once(&once, load);
    return loaded ? &hdf5 : NULL;
}

#else

typedef int spragNoHdf5; /* a translation unit is not empty */

#endif
