# SPDX-License-Identifier: MIT
# CTest includes this file before it runs the tests. It adds one CTest for each suite of a GoogleTest program. A process
# for each of two thousand tests, most of which take a millisecond, would cost more than the tests. If a test fails or
# crashes, CTest prints the output of its suite, and the last "[ RUN      ]" names the test.
#
# Suites whose names match EACH get one CTest for each test. Their tests take seconds and can run at the same time.

# reckoner_add_suites(PROGRAM file PREFIX text LIST file [FILTER filter] [EACH regex] [PROPERTIES name value...])
# LIST keeps the names of the tests until the program is built again. FILTER is a filter of GoogleTest.
function(reckoner_add_suites)
  cmake_parse_arguments(ARG "" "PROGRAM;PREFIX;LIST;FILTER;EACH" "PROPERTIES" ${ARGN})
  if(NOT EXISTS "${ARG_PROGRAM}")
    add_test("${ARG_PREFIX}NOT_BUILT" "${ARG_PROGRAM}")
    return()
  endif()
  if(NOT EXISTS "${ARG_LIST}" OR "${ARG_PROGRAM}" IS_NEWER_THAN "${ARG_LIST}"
      OR "${CMAKE_CURRENT_LIST_FILE}" IS_NEWER_THAN "${ARG_LIST}"  # the caller, which names the filter
      OR "${CMAKE_CURRENT_FUNCTION_LIST_FILE}" IS_NEWER_THAN "${ARG_LIST}")
    execute_process(COMMAND "${ARG_PROGRAM}" --gtest_list_tests "--gtest_filter=${ARG_FILTER}"
      OUTPUT_VARIABLE listed RESULT_VARIABLE result)
    if(result)
      message(FATAL_ERROR "${ARG_PROGRAM} --gtest_list_tests: ${result}\n${listed}")
    endif()
    string(REGEX REPLACE " +#[^\n]*" "" listed "${listed}")  # types and values of parameters
    file(WRITE "${ARG_LIST}" "${listed}")
  endif()
  # "Suite." begins a suite. An indented line is a test of that suite.
  file(STRINGS "${ARG_LIST}" lines)
  set(suite)
  set(tests)
  set(found 0)
  foreach(line IN LISTS lines ITEMS end.)
    if(line MATCHES "^ +([^ ]+)$")
      list(APPEND tests "${suite}.${CMAKE_MATCH_1}")
      math(EXPR found "${found} + 1")
    elseif(line MATCHES "^([^ ]+)\\.$")
      set(next "${CMAKE_MATCH_1}")
      reckoner_add_suite()
      set(suite "${next}")
      set(tests)
    elseif(NOT line MATCHES "^Running main")
      message(FATAL_ERROR "${ARG_PROGRAM} --gtest_list_tests: this line names no suite and no test: ${line}")
    endif()
  endforeach()
  if(found EQUAL 0)
    message(FATAL_ERROR "${ARG_PROGRAM} has no test that matches ${ARG_FILTER}")
  endif()
endfunction()

# Adds `suite` with `tests`. The two macros use the variables of reckoner_add_suites().
macro(reckoner_add_suite)
  if(ARG_EACH AND suite MATCHES "${ARG_EACH}")
    foreach(test IN LISTS tests)
      reckoner_add_filtered("${test}" "${test}")
    endforeach()
  elseif(tests)
    list(JOIN tests ":" filter)
    if(ARG_FILTER STREQUAL "*")
      set(filter "${suite}.*")
    endif()
    reckoner_add_filtered("${suite}" "${filter}")
  endif()
endmacro()

macro(reckoner_add_filtered name filter)
  add_test("${ARG_PREFIX}${name}" "${ARG_PROGRAM}" "--gtest_filter=${filter}" --gtest_color=no)
  # CTest calls a suite skipped if all of its tests were skipped.
  set_tests_properties("${ARG_PREFIX}${name}" PROPERTIES ${ARG_PROPERTIES} FAIL_REGULAR_EXPRESSION "Running 0 tests" SKIP_REGULAR_EXPRESSION
    "PASSED  \\] 0 tests\\.\n\\[  SKIPPED \\] [^\n]*listed below:(\n\\[  SKIPPED \\] [^\n]*)*\n*$")
endmacro()
