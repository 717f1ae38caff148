# Helpers for the project's own targets.
#
# Upstream libraries are named after UPSTREAM_LIBS and go through
# mlir_target_link_libraries, so that they resolve to libMLIR.so; given to
# LINK_LIBS they would be embedded a second time.

# add_coda_library(NAME sources... [DEPENDS ...] [LINK_LIBS ...] [UPSTREAM_LIBS ...])
function(add_coda_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS;UPSTREAM_LIBS" ${ARGN})
  add_mlir_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS}
    DISABLE_INSTALL
    DEPENDS ${ARG_DEPENDS}
    LINK_LIBS PUBLIC ${ARG_LINK_LIBS})
  mlir_target_link_libraries(${name} PUBLIC ${ARG_UPSTREAM_LIBS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(GLOBAL APPEND PROPERTY CODA_LIBS ${name})
  install(TARGETS ${name} EXPORT CodaTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Development)
endfunction()

# add_coda_tool(NAME sources... [LINK_LIBS ...] [UPSTREAM_LIBS ...])
function(add_coda_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;UPSTREAM_LIBS" ${ARGN})
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  if(ARG_UPSTREAM_LIBS)
    mlir_target_link_libraries(${name} PRIVATE ${ARG_UPSTREAM_LIBS})
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# coda_tablegen(TARGET TD_FILE output generator-args ...): several outputs of
# one .td file; each "output" is followed by its generator arguments in one
# quoted string.
function(coda_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest output args)
    separate_arguments(args)
    mlir_tablegen(${output} ${args})
  endwhile()
  add_public_tablegen_target(${target})
  add_dependencies(mlir-headers ${target})
endfunction()
