# ./dev test: sourced by ./dev. Each lane builds what it needs (counted apart) and leaves JUnit reports in build/reports/<lane>/;
# tools/dev/summary.py adds them up. A lane that fails does not keep the next ones from running.

REPORTS=$ROOT/build/reports
BUILD_SECONDS=0

# The parts with threads of their own; the others are covered by the address sanitizer.
TSAN_TESTS="firn_runtime_test firn_obs_test firn_http_server_test firn_commit_protocol_test firn_commit_test firn_pipeline_test"

cmd_test() {
  local lanes="check unit python" option
  local all="check unit asan tsan python jvm" wanted=()
  for option in "$@"; do
    case $option in
      --fast) all="$lanes" ;;
      check | unit | asan | tsan | python | jvm) wanted+=("$option") ;;
      *) die "no such lane: $option (check, unit, asan, tsan, python, jvm)" ;;
    esac
  done
  ((${#wanted[@]})) && all="${wanted[*]}"
  rm -rf "$REPORTS"
  mkdir -p "$REPORTS"
  local lane
  for lane in $all; do
    run_lane "$lane"
  done
  python3 "$ROOT/tools/dev/summary.py" "$REPORTS"
}

run_lane() {
  local lane=$1 started=$SECONDS built_before=$BUILD_SECONDS
  say "lane: $lane"
  mkdir -p "$REPORTS/$lane"
  "lane_$lane" || true
  local build=$((BUILD_SECONDS - built_before))
  echo "$lane $((SECONDS - started - build)) $build" >>"$REPORTS/lanes"
}

# timed_build preset target...: a build that fails is one failed test.
timed_build() {
  local started=$SECONDS status=0
  (cmd_build "$@") || status=$?
  BUILD_SECONDS=$((BUILD_SECONDS + SECONDS - started))
  record build "$1" $status
  return $status
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

lane_check() {
  checked check format cmd_fmt --check
  checked check lint cmd_lint
}

run_ctest() {
  local preset=$1
  shift
  ctest --test-dir "$ROOT/build/$preset" -j "$JOBS" --output-on-failure --no-tests=error \
    --output-junit "$REPORTS/$preset-ctest.xml" "$@"
  [[ -s $REPORTS/$preset-ctest.xml ]] || record ctest "$preset left no report" 1
  mkdir -p "$REPORTS/$preset"
  cp "$ROOT/build/$preset"/test-results/*.xml "$REPORTS/$preset/" 2>/dev/null
}

lane_unit() {
  timed_build debug || return 1
  rm -rf "$ROOT/build/debug/test-results"
  run_ctest debug
}

lane_asan() {
  timed_build asan || return 1
  rm -rf "$ROOT/build/asan/test-results"
  ASAN_OPTIONS=detect_stack_use_after_return=1:strict_init_order=1 \
    LSAN_OPTIONS=suppressions=$ROOT/test/support/lsan.supp:print_suppressions=0 \
    UBSAN_OPTIONS=print_stacktrace=1 ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-19) \
    run_ctest asan -LE no_sanitizer
}

lane_tsan() {
  local present=() target
  (configure tsan) || { record build tsan 1; return 1; }
  for target in $TSAN_TESTS; do
    ninja -C "$ROOT/build/tsan" -t query "$target" >/dev/null 2>&1 && present+=("$target")
  done
  timed_build tsan "${present[@]}" || return 1
  rm -rf "$ROOT/build/tsan/test-results"
  TSAN_OPTIONS=suppressions=$ROOT/test/support/tsan.supp:second_deadlock_stack=1 \
    TSAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-19) \
    run_ctest tsan -R "^($(IFS='|'; echo "${present[*]}"))\$"
}

run_pytest() {
  local lane=$1
  shift
  (cd "$ROOT" && FIRN_DEPS_DIR=$DEPS_DIR FIRN_BIN=$ROOT/build/release/bin/firn \
    "$VENV/bin/python" -m pytest -q --junitxml="$REPORTS/$lane/pytest.xml" "$@" </dev/null)
}

# The whole program, as it is shipped.
lane_python() {
  deps_test
  timed_build release firn firn_source_driver || return 1
  run_pytest python -m "not jvm"
}

lane_jvm() {
  deps_test
  deps_kafka
  deps_spark
  deps_flights
  timed_build release firn firn_source_driver || return 1
  run_pytest jvm -m jvm
}
