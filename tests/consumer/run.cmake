# Installs a build into an empty prefix, then builds and runs a program against that only.
# Wants: build source scratch generator compiler flags build_type python version
# robin_map_dir.

# Tools run without what may be preloaded for a sanitized interpreter.
set(tool ${CMAKE_COMMAND} -E env --unset=LD_PRELOAD ${CMAKE_COMMAND})

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${scratch})
step("the install" ${tool} --install ${build} --component cpp --prefix ${scratch}/prefix)
foreach(file include/guardtree/guards/program/program.h
             lib/cmake/guardtree/guardtree-config.cmake)
  if(NOT EXISTS ${scratch}/prefix/${file})
    message(FATAL_ERROR "the install lacks ${file}")
  endif()
endforeach()
file(GLOB_RECURSE strangers ${scratch}/prefix/include/*_test.* ${scratch}/prefix/*pybind11*)
if(strangers)
  message(FATAL_ERROR "the install holds what it should not: ${strangers}")
endif()

step("the configuration" ${tool} -S ${source} -B ${scratch}/build -G ${generator}
  -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_CXX_FLAGS=${flags}
  -DCMAKE_BUILD_TYPE=${build_type} -DCMAKE_PREFIX_PATH=${scratch}/prefix
  -DPython_EXECUTABLE=${python} -Dtsl-robin-map_DIR=${robin_map_dir}
  -DWANTED_VERSION=${version})
step("the build" ${tool} --build ${scratch}/build)
foreach(program consumer frame_evaluator)
  if(EXISTS ${scratch}/build/${program})
    step("${program}" ${scratch}/build/${program})
    message(STATUS "${program} says: ${output}")
  endif()
endforeach()
