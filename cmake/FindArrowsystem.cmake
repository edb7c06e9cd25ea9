# Arrow and Parquet as the system installed them, only on request (-DFIRN_ARROW=system).

find_package(Arrow 23 REQUIRED CONFIG)
find_package(Parquet 23 REQUIRED CONFIG)
find_package(ArrowCompute 23 REQUIRED CONFIG)
add_library(firn_arrow ALIAS Arrow::arrow_shared)
add_library(firn_parquet ALIAS Parquet::parquet_shared)
add_library(firn_arrow_compute ALIAS ArrowCompute::arrow_compute_shared)
set(Arrowsystem_FOUND TRUE)
