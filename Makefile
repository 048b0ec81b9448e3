# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The two commands of the README, and little else: everything is done by CMake in build/.
#   make              builds the tools
#   make setup        installs missing packages, or names them; all targets below do this and build first
#   make demo         compiles examples/post_norm_block, links it into a C program, runs it on real data
#   make check        runs all tests, those of many types, sizes or random draws on a sample of these
#   make check-contractions   compares contractions of every size from 0 to 67 with a plain loop of fma, bit by bit: minutes
#   make check-full   check without samples, contractions of every size among them: what has to be green before a change goes in
#   make install PREFIX=/usr/local DESTDIR=   installs into a folder (docs/installing.md)
#   make deb          makes packages for Debian in build/packages
#   make bench        measures kernels beside the machine's limits, hand-written code and peers (docs/benchmarks.md)
#   make bench-quick  measures less; bench-peers installs the peers; bench-docs puts the last results into the docs
#   make bench-products   measures matrix products beside the processor's peak and peers (docs/measurements/products.md)
#   make bench-attention  measures attention beside peers (docs/measurements/attention.md)
#   make bench-layer  measures whole Transformer layers, their parts, and generation of tokens beside peers (docs/measurements/layer.md)
#   make bench-training   measures the training step of a small GPT beside PyTorch (docs/measurements/training.md)
#   make bench-torch      measures resid's modules for PyTorch beside PyTorch (docs/measurements/pytorch.md); needs both in TORCH_PYTHON
#   make accuracy     prints the largest error per op, function of math and type beside its bound (docs/accuracy.md)
#   make fuzz         runs 100,000 random programs through random rewrites, and compiles 1,000 (docs/fuzz.md); then the next four
#   make fuzz-gradients   compares the gradients of 50,000 random programs with numeric ones (docs/fuzz.md)
#   make fuzz-parser  runs 10^6 hostile texts through parser, verifiers and passes under sanitizers (docs/robustness.md)
#   make fuzz-weights runs 10^7 hostile files of weights through the runtime's reader under sanitizers (docs/robustness.md)
#   make fuzz-same-bits   runs decoders on 20,000 random splits, batches and prefixes, and compares bits (docs/same-bits.md)
#   make check-models imports every class of text and images of transformers (docs/measurements/import-models.md)
#   make sweep        compiles some 4,000 small programs with sizes 0, 1 and more on every level of processor, and checks them (docs/fuzz.md)
#   make check-tsan   runs the thread pool and kernels on several threads under ThreadSanitizer (docs/robustness.md)
#   make check-sanitizers   check-tsan, then runtime, callers and kernels under clang's other sanitizers
#   make check-asan   check-sanitizers, then all tests with every tool built for the address and undefined-behaviour sanitizers
#   make gpu-check-pack   a folder to carry to a machine with a GPU, which checks and measures kernels there (docs/gpu.md)
#   make check-ptxas kernels for GPUs by NVIDIA's ptxas, without a GPU: registers, spills, instructions (docs/measurements/gpu-sass.md)
#   make check-gpu   kernels for GPUs on an interpreter, without a GPU: bits against the CPU, some 15 minutes (docs/gpu.md)
#   make check-valgrind   every tool under valgrind on programs of the tests, minutes each (docs/robustness.md)
#   make bench-python measures calls from Python, and compiling there (docs/measurements/python.md)
#   make wheel        the Python packages resid and resid-runtime as wheels, in build/wheels (docs/python.md)
#   make wheels       the same for every Python of PYTHONS that is there
#   make check-python builds the wheels, and tests them with NumPy, PyTorch, JAX and ONNX where an index has these
#   make site         the documents as a site with search, in build/site (needs a package index)
#   make clean        removes the build folder

BUILD ?= build
export CLICOLOR = 0

.PHONY: all install deb demo check check-gpu gpu-check-pack check-ptxas check-sanitizers check-tsan check-asan check-valgrind sanitizer-runtimes sanitized fuzz fuzz-programs fuzz-gradients fuzz-parser fuzz-weights fuzz-same-bits check-models sweep bench bench-quick bench-products bench-attention bench-layer bench-training bench-torch bench-peers bench-docs accuracy setup configure clean site wheel wheels check-python has-package-index python-packages python-test-packages bench-python check-contractions check-full

all: configure
	cmake --build $(BUILD)

# DESTDIR, which packagers set, goes in front of PREFIX, as everywhere.
PREFIX ?= /usr/local

install: all
	cmake --install $(BUILD) --prefix $(abspath $(PREFIX))

deb: all
	cd $(BUILD) && cpack -G DEB

demo: configure
	cmake --build $(BUILD) --target residc-alone resid_runtime
	$(MAKE) --no-print-directory -C examples/post_norm_block run RESIDC=$(abspath $(BUILD))/demo/bin/residc \
	  RUNTIME=$(abspath $(BUILD))/lib INCLUDE=$(CURDIR)/runtime OUT=$(abspath $(BUILD))/demo

check: configure python-packages
	cmake --build $(BUILD) --target check-resid

RUN_LIT = lit=$$(sed -n 's/^RESID_LIT:FILEPATH=//p' $(BUILD)/CMakeCache.txt) && $$lit -sv

check-contractions: configure
	cmake --build $(BUILD) --target residc resid_runtime
	$(RUN_LIT) --param depth=whole -o $(BUILD)/test/contractions.json $(BUILD)/test --filter='embed/contractions'

check-full: export LIT_OPTS := $(LIT_OPTS) --param depth=whole
check-full: check

# SWEEP=10 takes one of ten programs.
SWEEP ?= 1

sweep: configure
	cmake --build $(BUILD) --target resid-sweep
	test/sweep/run.sh $(BUILD) $(SWEEP)

GPU_GRID ?=

check-gpu: configure
	cmake --build $(BUILD) --target residc resid-run resid-fake-cuda
	python3 test/gpu/grid.py --build=$(BUILD) $(GPU_GRID)

gpu-check-pack: configure
	cmake --build $(BUILD) --target residc
	python3 tools/gpu-check/pack.py --build=$(BUILD) $(GPU_PACK)

check-ptxas: configure
	cmake --build $(BUILD) --target residc
	python3 test/gpu/assemble.py --build=$(BUILD) $(GPU_KERNELS)
	python3 test/gpu/assemble_suite.py --build=$(BUILD)
	python3 test/gpu/assemble_suite.py --build=$(BUILD) --kinds=attention,examples,pack,stacks,wide-stacks,edges,matrices,relaxed-attention

FUZZ ?= --seed=1000000 --programs=100000 --compile-every=100 --compile-ops=40

fuzz: fuzz-programs fuzz-gradients fuzz-parser fuzz-weights fuzz-same-bits

fuzz-programs: configure
	cmake --build $(BUILD) --target resid-random-programs
	$(BUILD)/bin/resid-random-programs $(FUZZ) --out=$(BUILD)/random-program.mlir

FUZZ_GRADIENTS ?= --seed=1000000 --programs=50000 --compile-every=250 --compile-ops=40

fuzz-gradients: configure
	cmake --build $(BUILD) --target resid-random-programs
	$(BUILD)/bin/resid-random-programs --gradients $(FUZZ_GRADIENTS) --out=$(BUILD)/random-program.mlir

# Further flags of libFuzzer are those of both targets.
FUZZ_PARSER ?= -runs=1000000
FUZZ_PASSES ?= -runs=250000
SANITIZED ?= build-asan

fuzz-parser: sanitized
	cmake --build $(SANITIZED) --target resid-fuzz-parser resid-fuzz-passes
	test/fuzz/run.sh $(SANITIZED) parser $(FUZZ_PARSER)
	test/fuzz/run.sh $(SANITIZED) passes $(FUZZ_PASSES)

FUZZ_WEIGHTS ?= -runs=10000000

fuzz-weights: sanitized
	cmake --build $(SANITIZED) --target resid-fuzz-weights
	test/fuzz/run.sh $(SANITIZED) weights $(FUZZ_WEIGHTS)

SAME_BITS_DRAWS ?= 20000

fuzz-same-bits: wheel
	RESID_SAME_BITS_DRAWS=$(SAME_BITS_DRAWS) test/python/run.sh $(abspath $(BUILD)) test/python/test_same_bits.py

# Outside of check-python: there are more than 500 classes, each in a process of its own.
CHECK_MODELS ?= --page=docs/measurements/import-models.md

check-models: wheel
	test/python/run.sh $(abspath $(BUILD)) --packages
	$(BUILD)/test-venv/bin/pip install --quiet --force-reinstall --no-deps --no-index --find-links $(BUILD)/wheels resid resid-runtime
	$(BUILD)/test-venv/bin/python test/python/check_models.py $(CHECK_MODELS)

sanitizer-runtimes:
	@cmake/setup-packages.sh libclang-rt-22-dev

sanitized: setup sanitizer-runtimes
	@test -f $(SANITIZED)/build.ninja || cmake --preset asan -B $(SANITIZED)

RUN_SANITIZED_TESTS = $(RUN_LIT) --param sanitizers=1 -o $(BUILD)/test/sanitizers.json $(BUILD)/test

check-sanitizers check-tsan: configure sanitizer-runtimes
	cmake --build $(BUILD) --target residc resid_runtime
	$(RUN_SANITIZED_TESTS) --filter='sanitize/$(if $(filter check-tsan,$@),(kernels-threads|runtime))'

check-asan: check-sanitizers sanitized
	cmake --build $(SANITIZED) --target check-resid

# JOBS: how many tools run at a time.
check-valgrind: all
	@cmake/setup-packages.sh valgrind
	JOBS=$(or $(JOBS),2) test/sanitize/valgrind.sh $(BUILD)

PEERS ?= $(BUILD)/peers
BENCH_FLAGS ?=
BENCH_FOLDERS = --build=$(BUILD) --peers=$(PEERS)
RUN_BENCH = python3 benchmarks/bench.py $(BENCH_FOLDERS) $(BENCH_FLAGS)
BUILD_BENCH = cmake -B $(BUILD) -DRESID_BUILD_BENCHMARKS=ON && cmake --build $(BUILD) --target residc resid-benchmarks

bench bench-quick: configure
	$(BUILD_BENCH)
	$(RUN_BENCH) $(if $(filter bench-quick,$@),--quick)

bench-products bench-attention bench-layer bench-training: configure
	$(BUILD_BENCH)
	python3 benchmarks/$(@:bench-%=%).py $(BENCH_FOLDERS) $(BENCH_FLAGS)

TORCH_PYTHON ?= python3

bench-torch:
	$(TORCH_PYTHON) benchmarks/torch_modules.py --out=$(BUILD)/benchmarks $(BENCH_FLAGS)

bench-peers: configure
	benchmarks/install-peers.sh $(PEERS)
	$(BUILD_BENCH)
	$(RUN_BENCH) --prepare-peers

bench-docs:
	$(RUN_BENCH) --update-docs

accuracy: configure
	cmake --build $(BUILD) --target resid-run residc
	@python3 benchmarks/accuracy.py $(BUILD)/bin $(BUILD)/accuracy

PYTHON = python3
# What `make wheels` builds for, names or paths. The wheel of 3.12 is for all that come after it.
PYTHONS = python3.10 python3.12 $(PYTHON)
WHEELS = $(abspath $(BUILD))/wheels

wheel wheels: configure
	@cmake/setup-packages.sh python3-venv python3-dev
	python/wheels.sh $(BUILD) $(if $(filter wheels,$@),$(PYTHONS),$(PYTHON))

# The tests of the Python packages that need NumPy alone are a part of `make check` where nanobind is to be had, or is in
# build/nanobind already.
python-packages: configure
	@test -d $(BUILD)/nanobind || timeout 60 $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --target $(BUILD)/nanobind \
	  nanobind >/dev/null 2>&1 || rm -rf $(BUILD)/nanobind
	@if [ -d $(BUILD)/nanobind ]; then cmake -B $(BUILD) -DRESID_PYTHON=ON -Dnanobind_DIR=$(abspath $(BUILD))/nanobind/nanobind/cmake >/dev/null; \
	  else echo "check: the Python packages are not built, since no package index has nanobind here"; fi

# Whether an index answers that has what the wheels are built with.
has-package-index: setup
	@cmake/setup-packages.sh python3-venv python3-pip
	@folder=$$(mktemp -d) && { timeout 60 $(PYTHON) -m pip download --quiet --no-deps --dest $$folder nanobind >/dev/null 2>&1; code=$$?; \
	  rm -rf $$folder; exit $$code; }

check-python: wheel
	test/python/run.sh $(abspath $(BUILD)) $(PYTEST)

# What check-python tests with, so that it can be fetched while something else is built.
python-test-packages: setup
	@cmake/setup-packages.sh python3-venv
	test/python/run.sh $(abspath $(BUILD)) --packages

bench-python: wheel
	@test -x $(BUILD)/test-venv/bin/python || test/python/run.sh $(abspath $(BUILD)) --co -q >/dev/null
	$(BUILD)/test-venv/bin/pip install --quiet --force-reinstall --no-deps --no-index --find-links $(WHEELS) resid resid-runtime
	$(BUILD)/test-venv/bin/python benchmarks/python_calls.py $(BENCH_FLAGS)

SITE_VENV = $(BUILD)/site-venv

site:
	@cmake/setup-packages.sh python3-venv
	@test -x $(SITE_VENV)/bin/pip || python3 -m venv $(SITE_VENV)
	$(SITE_VENV)/bin/pip install --quiet --disable-pip-version-check -r site/requirements.txt
	PYTHONPATH=site NO_MKDOCS_2_WARNING=1 $(SITE_VENV)/bin/mkdocs build --quiet -f site/mkdocs.yml
	@echo "the site begins at $(BUILD)/site/overview.html"

setup:
	@cmake/setup-packages.sh

configure: setup
	@test -f $(BUILD)/build.ninja || cmake --preset release -B $(BUILD)

clean:
	rm -rf $(BUILD)
