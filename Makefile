# What a newcomer needs: `make demo` and `make test`. Both install what is missing.
#
#   make demo    the main job on real input: configuration -> Verilog -> co-simulation
#   make test    the tests, the way CI runs them (17 minutes on two cores with all that is built first, eight
#                minutes after that)
#   make test-all  these, and those that take half a minute or more each
#   make matrix  the long co-simulation matrix: every histogram, scale, policy, sleep state
#   make verify  proofs: every claim about every preset, and about its links
#   make netlists  what Yosys synthesises does what the Verilog does: every preset and histogram
#   make verify-all  co-simulation, mutation, proofs, netlists, coverage, the client in Python; goes
#                on where it was interrupted, and ends with a table (an hour and a half)
#   make long    10^10 compared clock cycles over the matrix (three quarters of an hour); goes on where
#                it was interrupted
#   make configurations  5,000 random legal configurations: each is built and linted
#   make predict a million idle periods per histogram, golden model against Verilog
#   make mutants  some 3,000 single faults in all modules: how many the co-simulation finds
#   make golden-mutants  some 1,800 single faults in the golden models, the same question; cargo-mutants
#                from crates.io makes them (two hours); goes on where it was interrupted
#   make pair    two ports on a cable: every preset, every delay from 0 to 2000 cycles
#   make bench   speed of the checked co-simulation against a plain Verilator loop
#   make fuzz    10 million inputs of every kind, made by libFuzzer from kept ones (an hour); goes on
#                where it was interrupted
#   make sanitize  AddressSanitizer on the C++ of the co-simulation, ThreadSanitizer on the threads
#                (the latter with a nightly Rust and rust-src; half an hour)
#   make cocotb  a model written from the specification alone against the Verilog, with cocotb from
#                PyPI on Icarus and Verilator; registers too (half an hour)
#   make ethernet  100,000 frames through LiteEth's MAC, the emitted port of Ethernet and a model of the
#                PHY, beside `linkdoze simulate`; XGMII of cocotbext-eth, too; both from PyPI (some minutes)
#   make handover  FuseSoC runs the emitted cores, PeakRDL makes IP-XACT and UVM of the registers; both
#                from PyPI (some minutes)
#   make schema  the JSON Schemas against an independent validator from PyPI
#   make lint    Verible's lint on the checked-in Verilog
#   make area    what every feature costs: the tables of docs/evidence/area.md (some 20 minutes)
#   make asic    area and clock frequency in OSU's open 0.18 um standard cells: the table of
#                docs/evidence/asic.md; goes on where it was interrupted
#   make toggles  which registers change while a link sleeps: a table of docs/evidence/asic.md (a
#                minute)
#   make directions  both directions of a link asleep together or each for itself: the tables of
#                docs/evidence/directions.md (five minutes)
#   make rtl     regenerate the checked-in Verilog and constraints of the presets
#   make reference  regenerate the pages of the book that are made from the program
#   make book    the book as a web site in target/book (needs mdBook)

CARGO ?= cargo
LINKDOZE = target/release/linkdoze
# Cargo with Z3 at hand, models compiled quickly rather than well (unless CXX says by what) and kept for all
# tests, and what Verilator's own makefiles compile kept where it was compiled before.
TESTED = CXX="$${CXX:-$(CURDIR)/tests/common/quick-c++}" COMPILED_HEADERS="$(CURDIR)/target/tmp/headers" \
	LINKDOZE_CACHE="$(CURDIR)/target/tmp/linkdoze-cache" \
	OBJCACHE="$$(command -v ccache)" PATH="$$(sh tools/z3.sh):$$PATH" $(CARGO)

.PHONY: demo test test-all style matrix long configurations verify netlists verify-all predict mutants golden-mutants pair bench fuzz sanitize cocotb ethernet handover schema lint area asic toggles directions rtl reference book setup build clean

setup:
	@sh tools/setup.sh

build: setup
	$(CARGO) build --release --locked

demo: build
	@sh tools/demo.sh $(LINKDOZE)

test: setup style
	$(TESTED) test --release --locked

test-all: setup style
	LINKDOZE_ALL_CASES=1 $(TESTED) test --release --locked -- --include-ignored

# A minimal Rust has no rustfmt and clippy; the tests do not need them.
style:
	@if $(CARGO) fmt --version >/dev/null 2>&1 && $(CARGO) clippy --version >/dev/null 2>&1; then \
	  set -x; $(CARGO) fmt --check && $(CARGO) fmt --check --manifest-path fuzz/Cargo.toml && \
	  $(CARGO) clippy --release --locked --all-targets -- -D warnings; \
	else \
	  echo 'style: not checked; rustup component add rustfmt clippy'; \
	fi

matrix: build
	@sh tools/matrix.sh $(LINKDOZE)

long: build
	@sh tools/long.sh $(LINKDOZE)

configurations: setup
	CONFIGURATIONS=5000 $(CARGO) test --release --locked --test all configurations:: -- --nocapture

verify: build
	@sh tools/verify.sh $(LINKDOZE)

netlists: build
	@sh tools/netlists.sh $(LINKDOZE)

verify-all: build
	@sh tools/verify-all.sh $(LINKDOZE)

predict: build
	@sh tools/predict.sh $(LINKDOZE)

mutants: build
	@PATH="$$(sh tools/z3.sh):$$PATH" sh tools/mutants.sh $(LINKDOZE)

golden-mutants: build
	@sh tools/golden-mutants.sh $(LINKDOZE)

pair: build
	@sh tools/pair.sh $(LINKDOZE)

bench: setup
	$(CARGO) bench --locked

fuzz: setup
	@sh tools/fuzz.sh

sanitize: build
	@sh tools/sanitize.sh $(LINKDOZE)

cocotb: build
	@sh tools/cocotb.sh $(LINKDOZE)

ethernet: build
	@sh tools/ethernet.sh $(LINKDOZE)

handover: build
	@sh tools/handover.sh $(LINKDOZE)

schema: build
	@sh tools/schema.sh $(LINKDOZE)

lint:
	@sh tools/lint.sh

area: build
	@sh tools/area.sh $(LINKDOZE)

asic: build
	@sh tools/asic.sh $(LINKDOZE)

toggles: build
	@sh tools/toggles.sh $(LINKDOZE)

directions: build
	@sh tools/directions.sh $(LINKDOZE)

rtl: build
	@for preset in $$($(LINKDOZE) presets | cut -d' ' -f1); do \
	  $(LINKDOZE) init --preset $$preset -o target/$$preset.toml --force && \
	  $(LINKDOZE) generate target/$$preset.toml -o rtl/$$preset \
	    --constraints constraints/$$preset || exit; \
	done

reference: setup
	LINKDOZE_WRITE_BOOK=1 $(CARGO) test --release --locked --test all the_page_of

book:
	@command -v mdbook >/dev/null || { echo 'book: mdBook is missing: cargo install mdbook' >&2; exit 2; }
	mdbook build docs

clean:
	$(CARGO) clean
