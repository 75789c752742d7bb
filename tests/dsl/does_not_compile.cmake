# Compiles each snippet of does_not_compile/: it must be refused, with what its first
# lines expect in the messages. Wants: compiler flags source standard includes, the last a
# list.

# A minute of compiling that says the same whatever CPython there is.
if(NOT "$ENV{GUARDTREE_TEST_LONG}")
  message(STATUS "SKIPPED: only 'dev.py test --long' runs this")
  return()
endif()

# Tools run without what may be preloaded for a sanitized interpreter; messages in ASCII.
set(tool ${CMAKE_COMMAND} -E env --unset=LD_PRELOAD LC_ALL=C ${compiler})
separate_arguments(flags NATIVE_COMMAND "${flags}")
list(FILTER includes EXCLUDE REGEX "^$")
list(TRANSFORM includes PREPEND -I)
file(GLOB snippets ${source}/*.cpp)
if(NOT snippets)
  message(FATAL_ERROR "there are no snippets in ${source}")
endif()

foreach(snippet IN LISTS snippets)
  cmake_path(GET snippet STEM name)
  execute_process(COMMAND ${tool} ${flags} -std=${standard} -fno-exceptions -fsyntax-only
      ${includes} ${snippet}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(SEND_ERROR "${name} compiles, which it must not")
  endif()
  file(STRINGS ${snippet} expectations REGEX "^// expect: ")
  if(NOT expectations)
    message(SEND_ERROR "${name} does not say what it expects")
  endif()
  foreach(line IN LISTS expectations)
    string(REPLACE "// expect: " "" expected "${line}")
    string(FIND "${output}" "${expected}" place)
    if(place EQUAL -1)
      message(SEND_ERROR "${name}: '${expected}' is not in the messages:\n${output}")
    endif()
  endforeach()
endforeach()
