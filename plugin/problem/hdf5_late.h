/* HDF5's functions, loaded with the first file that needs them.  Debian's libhdf5 needs thirty libraries of its own
 * (libcurl, OpenSSL, GnuTLS, Kerberos), which no game or robot should have to load for a format that it never reads. */
#ifndef SPRAG_PROBLEM_HDF5_LATE_H
#define SPRAG_PROBLEM_HDF5_LATE_H

#include <hdf5.h>

/* clang-format off */
#define SPRAG_HDF5_FUNCTIONS(each) \
    each(H5open) each(H5Dclose) each(H5Dcreate2) each(H5Dget_create_plist) each(H5Dget_space) \
    each(H5Dget_storage_size) each(H5Dget_type) each(H5Dopen2) each(H5Dread) each(H5Dwrite) each(H5Eget_auto2) \
    each(H5Eset_auto2) each(H5Fclose) each(H5Fcreate) each(H5Fis_hdf5) each(H5Fopen) each(H5Gclose) each(H5Gcreate2) \
    each(H5Lexists) each(H5Pclose) each(H5Pget_layout) each(H5Sclose) each(H5Screate_simple) \
    each(H5Sget_simple_extent_npoints) each(H5Tclose) each(H5Tget_size)
/* clang-format on */

typedef struct spragHdf5 {
#define SPRAG_HDF5_MEMBER(name) __typeof__(name) *name;
    SPRAG_HDF5_FUNCTIONS(SPRAG_HDF5_MEMBER)
#undef SPRAG_HDF5_MEMBER
    hid_t native_int, native_double; /* H5T_NATIVE_INT, H5T_NATIVE_DOUBLE */
} spragHdf5;

/* The same for all threads, for ever.  NULL: the library is not there, or lacks one of them. */
const spragHdf5 *spragHdf5Load(void);

#endif
