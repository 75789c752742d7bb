# guardtree for find_package, from the Python package: guardtree::capi, its header alone.
# What is called lies in the package; the C++ libraries come with `cmake --install`.
if(NOT TARGET guardtree::capi)
  add_library(guardtree::capi INTERFACE IMPORTED)
  set_target_properties(guardtree::capi PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../include")
endif()
