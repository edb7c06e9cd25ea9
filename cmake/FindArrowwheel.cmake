# Arrow and Parquet out of PyPI's pyarrow, where ./dev installed it (FIRN_DEPS_DIR/venv). Its libraries carry their version in
# their names and no plain .so link, so they are imported by full path; CMake then puts their folder into the RPATH.

set(_version 2300)
file(GLOB _packages ${FIRN_DEPS_DIR}/venv/lib/python3*/site-packages/pyarrow)
list(GET _packages 0 _package)

include(FindPackageHandleStandardArgs)
find_path(FIRN_ARROW_INCLUDE arrow/api.h PATHS ${_package}/include NO_DEFAULT_PATH)
find_file(FIRN_ARROW_LIBRARY libarrow.so.${_version} PATHS ${_package} NO_DEFAULT_PATH)
find_file(FIRN_PARQUET_LIBRARY libparquet.so.${_version} PATHS ${_package} NO_DEFAULT_PATH)
find_file(FIRN_ARROW_COMPUTE_LIBRARY libarrow_compute.so.${_version} PATHS ${_package} NO_DEFAULT_PATH)
find_package_handle_standard_args(Arrowwheel
  REQUIRED_VARS FIRN_ARROW_INCLUDE FIRN_ARROW_LIBRARY FIRN_PARQUET_LIBRARY FIRN_ARROW_COMPUTE_LIBRARY
  REASON_FAILURE_MESSAGE "pyarrow is not in ${FIRN_DEPS_DIR}/venv: run ./dev deps first")

foreach(_lib arrow parquet arrow_compute)
  string(TOUPPER ${_lib} _upper)
  add_library(firn_${_lib} SHARED IMPORTED)
  set_target_properties(firn_${_lib} PROPERTIES
    IMPORTED_LOCATION ${FIRN_${_upper}_LIBRARY}
    IMPORTED_SONAME lib${_lib}.so.${_version}
    INTERFACE_INCLUDE_DIRECTORIES ${FIRN_ARROW_INCLUDE}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${FIRN_ARROW_INCLUDE})
endforeach()
