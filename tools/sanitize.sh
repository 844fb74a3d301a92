#!/bin/sh
# Sanitizers on the C++ of the co-simulation and on the threads of the network engine; and defects
# that are put in on purpose, which they must report.
#
#     tools/sanitize.sh LINKDOZE
#
# The C++ is compiled by g++ with AddressSanitizer and UndefinedBehaviorSanitizer. The threads need
# a nightly Rust with its sources, for ThreadSanitizer: rustup toolchain install nightly, and
# rustup component add rust-src --toolchain nightly. Without it that part is left out, and said.
set -eu
linkdoze=$(realpath "$1")
out=${SANITIZE_OUT:-target/sanitize}
here=$PWD
# Models are kept by the name of the compiler, which does not tell what this script makes of it.
cache=$here/$out/cache-$(cat tools/sanitizing-c++ tools/sanitize.sh | cksum | cut -d' ' -f1)
mkdir -p "$out/inputs"
export LINKDOZE_PROGRESS=5

for preset in bxiv3-deep-sleep bxiv3-hybrid 10gbase-t; do
    "$linkdoze" init --preset $preset -o "$out/inputs/$preset.toml" --force >/dev/null 2>&1
done
sed 's/^registers = false/registers = true/' "$out/inputs/bxiv3-deep-sleep.toml" \
    >"$out/inputs/registers.toml"
grep -q '^registers = true' "$out/inputs/registers.toml"
# Its model is small: one that counts lines takes long to compile.
printf '[port]\npolicy = "fixed"\nt_pdt_ns = 1000\n' >"$out/inputs/fixed.toml"
cat >"$out/inputs/dragonfly.toml" <<'END'
[topology]
kind = "dragonfly"
groups = 3
switches_per_group = 2
nodes_per_switch = 2
global_ports = 1
[traffic]
kind = "uniform"
load = 0.05
[power.clock]
period_ps = 1000
tick_ns = 8
[power.port]
policy = "perfbound-correct"
sleep = "hybrid"
[power.histogram]
kind = "circular"
bins = 64
bin_ns = 64
max_value_ns = 4096
[run]
duration_ns = 3000000
sample_ns = 10000
END

# A run that must end well, and without a report of a sanitizer.
clean() { # clean WHAT COMMAND...
    what=$1
    shift
    begin=$(date +%s) status=0
    echo "running: $what"
    "$@" >"$out/log" 2>&1 || status=$?
    if [ $status != 0 ] || grep -q 'Sanitizer\|runtime error:' "$out/log"; then
        echo "sanitize: $what: exit status $status" >&2
        cat "$out/log" >&2
        exit 1
    fi
    echo "clean, $(($(date +%s) - begin)) s: $what"
}

# A run that a sanitizer must stop, saying this.
reported() { # reported WHAT TEXT COMMAND...
    what=$1 text=$2
    shift 2
    status=0
    "$@" >"$out/log" 2>&1 || status=$?
    if [ $status = 0 ] || ! grep -q "$text" "$out/log"; then
        echo "sanitize: $what: \`$text\` is not reported (exit status $status)" >&2
        cat "$out/log" >&2
        exit 1
    fi
    echo "reported, as it should be: $what: $(grep -o -m1 "$text.*" "$out/log")"
}

# The program with C++ that this compiler compiles. The sanitizers come first into the process; the
# tools that it starts are not looked at for what they leave behind.
with() { # with COMPILER ARGUMENTS...
    compiler=$1
    shift
    (cd "$out/inputs" && LINKDOZE_CACHE="$cache" CXX="$compiler" \
        ASAN_OPTIONS=detect_leaks=0 \
        LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)" \
        "$linkdoze" "$@")
}

sanitizing=$here/tools/sanitizing-c++
for configuration in bxiv3-deep-sleep bxiv3-hybrid 10gbase-t registers; do
    clean "cosim --random, $configuration" \
        with "$sanitizing" cosim $configuration.toml --random --cycles 300000
done
clean 'cosim --random, lines counted' \
    with "$sanitizing" cosim fixed.toml --random --cycles 20000 --code-coverage
for wave in w.vcd w.fst; do
    clean "cosim --line-rate, waveform $wave" \
        with "$sanitizing" cosim bxiv3-hybrid.toml --line-rate --cycles 20000 --wave $wave
done
clean 'cosim --pair' \
    with "$sanitizing" cosim bxiv3-hybrid.toml --pair --delay 7 --cycles 100000
clean 'simulate, two ports in the loop, two threads' \
    with "$sanitizing" simulate dragonfly.toml --threads 2 --no-baseline \
    --rtl-ports switch1.port0,nic3

# The same compiler, after an edit of the test bench in the folder where it is compiled.
seeded() { # seeded NAME EDIT
    printf '#!/bin/sh\n[ ! -e harness.cpp ] || sed -i "%s" harness.cpp\nexec "%s" "$@"\n' \
        "$2" "$sanitizing" >"$out/$1-c++"
    chmod +x "$out/$1-c++"
}
seeded over-read 's/const Run run = runs\[index\];/const Run run = runs[index + count];/'
reported 'a test bench that reads behind the runs' 'heap-buffer-overflow' \
    with "$here/$out/over-read-c++" cosim bxiv3-hybrid.toml --random --cycles 20000 --no-wave
seeded after-free 's/    delete instance;/    delete instance; instance->error.clear();/'
reported 'a test bench that uses what it has freed' 'heap-use-after-free' \
    with "$here/$out/after-free-c++" cosim bxiv3-hybrid.toml --random --cycles 20000 --no-wave
seeded overflow 's/found->cycle = cycle;/found->cycle = cycle;/;s/        Root\& root = \*model.rootp;/\&\n        int most = 2147483647; most += handle != nullptr; root.clk = most != 0;/'
reported 'a test bench whose number overflows' 'signed integer overflow' \
    with "$here/$out/overflow-c++" cosim bxiv3-hybrid.toml --random --cycles 20000 --no-wave

if ! rustc +nightly --version >/dev/null 2>&1 ||
    ! [ -d "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" ]; then
    echo 'sanitize: no nightly Rust with rust-src: ThreadSanitizer is left out' >&2
    exit 0
fi
triple=$(rustc +nightly -vV | sed -n 's/^host: //p')

# The standard library is built as well: what it does with threads must be seen.
checked=$here/$out/thread/$triple/release/linkdoze
threaded() { # threaded MANIFEST
    RUSTFLAGS=-Zsanitizer=thread cargo +nightly build --release --locked --manifest-path "$1" \
        -Zbuild-std --target "$triple" --target-dir "$out/thread" --bin linkdoze \
        --config profile.release.package.linkdoze.opt-level=1 \
        --config profile.release.incremental=true
}
cat >"$out/inputs/sweep.toml" <<'END'
scenario = "short.toml"
[fixed]
t_pdt_ns = [100, 1000]
[perfbound]
bounds = [0.01]
histograms = ["clearing"]
END
sed 's/^duration_ns = 3000000/duration_ns = 100000/;/^sample_ns/d;/^\[power/,/^max_value/d' \
    "$out/inputs/dragonfly.toml" >"$out/inputs/short.toml"
rm -rf "$out/inputs/swept"
echo 'building with ThreadSanitizer: some minutes'
threaded Cargo.toml
cd "$out/inputs"
export LINKDOZE_CACHE="$cache"
for threads in 2 4; do
    clean "simulate, $threads threads" "$checked" simulate dragonfly.toml --threads $threads --all
done
clean 'simulate, two ports in the loop, two threads (the C++ without)' \
    "$checked" simulate dragonfly.toml --threads 2 --no-baseline --rtl-ports switch1.port0,nic3
clean 'cosim, four seeds at a time, native' \
    "$checked" cosim bxiv3-hybrid.toml --random --cycles 2000 --seed 1..4 --engine native
clean 'sweep, two runs at a time' "$checked" sweep sweep.toml -o swept --threads 2
cd "$here"

# A variable that threads share without any order, in a copy of the sources.
echo 'building with ThreadSanitizer and a race: some minutes'
rm -rf "$out/race"
mkdir -p "$out/race"
cp -r Cargo.toml Cargo.lock build.rs src benches testbench third_party "$out/race/"
sed -i 's/^    fn begin(&self, first: usize, partitions: &mut \[Partition\]) {$/&\n        static mut LAST: usize = 0;\n        unsafe { (\&raw mut LAST).write_volatile(first) };/' \
    "$out/race/src/network/event/threads.rs"
grep -q 'static mut LAST' "$out/race/src/network/event/threads.rs"
threaded "$out/race/Cargo.toml"
reported 'threads without the order that they need' 'WARNING: ThreadSanitizer: data race' \
    sh -c "cd '$out/inputs' && exec '$checked' simulate dragonfly.toml --threads 2"
