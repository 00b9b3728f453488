# Installs BUILD under PREFIX and runs the installed program on the installed model and a recording.
cmake_minimum_required(VERSION 3.20)

function(succeed)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status
                  WORKING_DIRECTORY ${PREFIX})
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "'${command}' ended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${PREFIX})
file(MAKE_DIRECTORY ${PREFIX})
succeed(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX})

succeed(${PREFIX}/${PROGRAM} list models)
if(NOT output MATCHES "tiny-gemma2")
  message(FATAL_ERROR "the installed program does not list the model tiny-gemma2:\n${output}")
endif()

set(recording ${PREFIX}/${DATA}/workloads/recorded/guidance-0.2.1_transformers-4.47.1/plain_w64.yaml)
succeed(${PREFIX}/${PROGRAM} run ${recording} --depth plan --policy discard)
