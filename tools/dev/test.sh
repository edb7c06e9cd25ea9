# ./dev test: sourced by ./dev. Each lane installs and builds what it needs (counted apart) and leaves JUnit reports in build/reports/<lane>/;
# tools/dev/summary.py adds them up. A lane that fails does not keep the next ones from running: each is a ./dev of its own.

REPORTS=$ROOT/build/reports

FAST_LANES="check unit python"
# Without unit: asan runs the same tests, and a third full build would buy nothing.
FULL_LANES="check asan tsan python jvm faults"
ALL_LANES="unit $FULL_LANES"

# The parts with threads of their own; the others are covered by the address sanitizer.
TSAN_TESTS="firn_pipeline_scenarios_test firn_runtime_test firn_obs_test firn_record_test firn_commit_protocol_test firn_commit_test firn_pipeline_test"

cmd_test() {
  local lanes=() lane option
  for option in "$@"; do
    [[ $option == --fast || " $ALL_LANES " == *" $option "* ]] || die "no such lane: $option ($ALL_LANES)"
    [[ $option == --fast ]] && lanes+=($FAST_LANES) || lanes+=("$option")
  done
  ((${#lanes[@]})) || lanes=($FULL_LANES)
  rm -rf "$REPORTS"
  for lane in "${lanes[@]}"; do
    mkdir -p "$REPORTS/$lane"
    say "lane: $lane"
    "$ROOT/dev" lane "$lane" || true
  done
  python3 "$ROOT/tools/dev/summary.py" "$REPORTS"
}

# One lane of ./dev test, in a process of its own.
cmd_lane() {
  LANE=$1 PREPARE_SECONDS=0
  trap end_of_lane EXIT
  "lane_$LANE"
}

end_of_lane() {
  local status=$?
  # A lane that ends early, for want of a package say, must not look like one that passed.
  [[ $status == 0 ]] || record "$LANE" "ran to its end" "$status"
  echo "$LANE $((SECONDS - PREPARE_SECONDS)) $PREPARE_SECONDS" >>"$REPORTS/lanes"
}

# record suite name status: one test of the report, for checks that have no test runner.
record() {
  local file
  file=$REPORTS/$(printf '%s-%s' "$1" "$2" | tr -c 'a-zA-Z0-9\n' _).tsv
  printf '%s\t%s\t%s\n' "$1" "$2" "$3" >"$file"
}

# checked suite name command...: runs it and records whether it succeeded.
checked() {
  local suite=$1 name=$2 status=0
  shift 2
  "$@" || status=$?
  record "$suite" "$name" $status
}

# timed command...: counts as preparing, not as testing; the lane ends where it fails.
timed() {
  local started=$SECONDS status=0
  "$@" || status=$?
  PREPARE_SECONDS=$((PREPARE_SECONDS + SECONDS - started))
  return $status
}

timed_build() { timed "$ROOT/dev" build "$@"; }
timed_deps() { timed "$ROOT/dev" deps "$@"; }

lane_check() {
  timed_deps lint build sanitize
  checked check format "$ROOT/dev" fmt --check
  checked check lint "$ROOT/dev" lint
}

# The tests of the databases find their server in FIRN_TEST_POSTGRES, and fail without one.
beside_postgres() { "$VENV/bin/python" "$ROOT/test/support/postgres.py" run "$@"; }

# run_ctest preset options...: its failures are in the reports. $BESIDE: what runs it.
run_ctest() {
  local preset=$1
  shift
  rm -rf "$ROOT/build/$preset/test-results"
  ${BESIDE:-} ctest --test-dir "$ROOT/build/$preset" -j "$JOBS" --output-on-failure --no-tests=error \
    --output-junit "$REPORTS/$preset-ctest.xml" "$@" || true
  [[ -s $REPORTS/$preset-ctest.xml ]]
  cp "$ROOT/build/$preset"/test-results/*.xml "$REPORTS/$preset/"
}

# The SQL catalog's tests have PyIceberg as the other writer.
lane_unit() {
  timed_deps test
  mkdir -p "$REPORTS/debug"
  timed_build debug
  BESIDE=beside_postgres run_ctest debug
}

lane_asan() {
  timed_deps test
  timed_build asan
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_init_order=1
  export LSAN_OPTIONS=suppressions=$ROOT/test/support/lsan.supp:print_suppressions=0
  export UBSAN_OPTIONS=print_stacktrace=1
  ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-19)
  export ASAN_SYMBOLIZER_PATH
  BESIDE=beside_postgres run_ctest asan -LE no_sanitizer
}

lane_tsan() {
  timed_build tsan $TSAN_TESTS
  TSAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-19)
  export TSAN_SYMBOLIZER_PATH TSAN_OPTIONS=suppressions=$ROOT/test/support/tsan.supp:second_deadlock_stack=1
  run_ctest tsan -R "^(${TSAN_TESTS// /|})\$" -LE no_sanitizer
}

# The whole program, as it is shipped or with its fault points. Failures are in the report; only "no test ran" (5) and worse end the lane.
run_pytest() {
  local lane=$1 status=0
  shift
  cd "$ROOT"
  FIRN_DEPS_DIR=$DEPS_DIR FIRN_BIN=$ROOT/build/release/bin/firn FIRN_FAULTS_BIN=$ROOT/build/faults/bin/firn \
    "$VENV/bin/python" -m pytest -q --junitxml="$REPORTS/$lane/pytest.xml" "$@" </dev/null || status=$?
  ((status <= 1))
}

lane_python() {
  timed_deps test s3 flights
  timed_build release firn firn_source_driver firn_s3_driver firn_sim_test
  # Thousands of simulated schedules, at the speed of the shipped code.
  mkdir -p "$REPORTS/release"
  run_ctest release -R '^firn_sim_test$'
  run_pytest python -m "not jvm and not faults"
}

lane_jvm() {
  timed_deps test s3 kafka spark rck flights
  timed_build release firn firn_source_driver firn_s3_driver
  # Three at a time, each with servers of its own: these tests wait more than they compute.
  run_pytest jvm -m "jvm and not faults" -n 3 --dist loadfile --no-loadscope-reorder
}

# Kills and other faults at every named point. Only the program is built with them, and nothing else runs beside these tests.
lane_faults() {
  timed_deps test s3 kafka rck
  timed_build faults firn
  run_pytest faults -m faults test/faults
}
