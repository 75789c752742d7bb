# guardtree_derive(<folder> <ROWS> <List>): ops/<folder>.gen.h from the headers of a folder that
# is a list. One struct per file; the file's stem is its name everywhere.
function(guardtree_derive folder rows list_name)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/*.h)
  list(SORT headers)
  # A renamed struct must be noticed too.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  foreach(header IN LISTS headers)
    file(STRINGS ${header} line REGEX "^struct [A-Za-z0-9]+ {")
    list(LENGTH line count)
    get_filename_component(stem ${header} NAME_WE)
    if(NOT count EQUAL 1)
      message(FATAL_ERROR "guards/${header}: expected exactly one line 'struct <Name> {', found ${count}")
    endif()
    string(REGEX REPLACE "^struct ([A-Za-z0-9]+) {.*" "\\1" type "${line}")
    list(APPEND types ${type})
    string(APPEND includes "#include \"../${header}\"\n")
    string(APPEND table " \\\n    X(${type}, ${stem})")
  endforeach()
  list(JOIN types ", " types)
  set(banner "// Every file of guards/${folder}/, derived by guards/derive.cmake. Do not edit.")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_SOURCE_DIR}/ops/${folder}.gen.h CONTENT
"${banner}
// SPDX-License-Identifier: MIT
#pragma once

${includes}
// clang-format off
#define GUARDTREE_${rows}(X)${table}

namespace guardtree {
using ${list_name} = TypeList<${types}>;
}
" @ONLY)
endfunction()
