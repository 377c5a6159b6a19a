# tfexp: build, run, test. `make help` lists the targets.

GO          ?= go
PYTHON      ?= python3
BIN         := bin/tfexp
# One set of compiled packages serves all targets.
export CGO_ENABLED := 0
export GOFLAGS     := $(GOFLAGS) -trimpath
# The compiler and most tests have small heaps: less frequent collection saves a tenth of the CPU time.
export GOGC        ?= 400
bench bench-large bench-peers: export GOGC := 100

# Temporary files of builds and tests are kept in memory, where there is room for them and programs may run: a fifth of the
# tests' CPU time is the kernel's work for files on a disk.
ifndef TMPDIR
  MEMORY := $(shell [ "$$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)" -gt 6000000 ] 2>/dev/null && \
    f=$$(mktemp -p /dev/shm 2>/dev/null) && echo exit >$$f && chmod +x $$f && sh -c "$$f" 2>/dev/null && echo /dev/shm; rm -f $$f)
  ifneq ($(MEMORY),)
    export TMPDIR := $(MEMORY)
  endif
endif

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
TOP         := cmd pipeline stages estimator scheduler hardware results jobs experiments
SOURCES     := $(shell find $(TOP) \( -name '*.go' -o -name '*.hcl' -o -name '*.gz' -o -name '*.tmpl' -o -name '*.txt' -o -name '*.md' \) -not -path '*/testdata/*' -not \( -path 'results/*' -not -name '*.go' \) ) go.mod go.sum

.DEFAULT_GOAL := help
.PHONY: help accuracy build build-nvml test-nvml run test test-python race lint features cross release long torture damage chaos equal mutate bench bench-large bench-peers docs papers images gallery python-jobs clean fuzz

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN) ## build bin/tfexp

$(BIN): $(SOURCES)
	$(GO) build -ldflags '-s -w' -o $@ ./cmd/tfexp

# Not every symbol that NVML's bindings name is in every driver: they are bound
# when they are called. The bindings name what newer headers call deprecated.
# Go's own resolver and users let it share the compiled packages of other targets.
NVML := CGO_ENABLED=1 CGO_CFLAGS="-O2 -w" CGO_LDFLAGS="-Wl,-z,lazy" $(GO)

build-nvml: ## build bin/tfexp with NVIDIA's management library (Linux; needs a C compiler)
	$(NVML) build -tags nvml,netgo,osusergo -o $(BIN) ./cmd/tfexp

test-nvml: ## test the use of NVIDIA's library, on the vendor's mock (needs a C compiler)
	$(NVML) test -vet=off -tags nvml,netgo,osusergo ./hardware/gpu/nvml

run: $(BIN) ## run the first experiment: FCFS against round robin, real training
	$(BIN) run experiments/fcfs_vs_rr.hcl

# Some tests wait more than they compute: more packages run side by side than there are cores.
test: ## run all tests; what needs more than Go skips and says so (go vet is part of make lint)
	$(GO) test -vet=off -timeout 20m -p $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )) ./...

# The tests that call need.Long or need.Cases.
LONG = $(addprefix ./,$(sort $(dir $(shell grep -rlE 'need\.(Long|Cases).' --include='*_test.go' $(TOP)))))

long: ## run the long form of the tests of which make test runs a short form: papers, seeds, drawn workloads (minutes)
	TFEXP_LONG=1 $(GO) test -vet=off -timeout 60m -run "^Test(PapersRun|Revocations|Golden|UsersSchedules|AgentsLearnATable|TrainingsOfOtherPrograms|IntervalsOfDrawnCurves|RemainingStepsOfMadeUpCurves|RatesOfLearningAreFollowed|TwinOfOtherPeriods|TwinAsPrinted|NothingToFind|NothingClaimed|OptionalStopping|EqualPoliciesUntilCertain|RulesToStop|PowerCutWithinACommit|Saturation|SchedulesOfExamples|Faults|PatientOnDrawnProcesses|KilledTraining|Check$$|Headlines|EveryPlace|NobodyMissesADeadline|MemoryOfSources|Chaos|ChiefLost|TracesAreOfTheModel|MistakesInJSON|Gradients|TriesOnDrawnTables|DrawnTables|EndOfTime|RanksAreUniform|Accuracy$$)" $(LONG)

accuracy: $(BIN) ## measure how far estimates are off in real runs, quiet and beside a busy core (an idle hour)
	$(PYTHON) estimator/corpus/accuracy.py $(BIN) $${OUT:-$$(mktemp -d)} experiments/fcfs_vs_rr.hcl experiments/estimator_accuracy.hcl

test-python: ## run the tests of the Python libraries; they need python3 alone
	$(PYTHON) -m unittest discover -s jobs/tfexp_job/tests
	$(PYTHON) -m unittest discover -s jobs/tfexp_results/tests
	$(PYTHON) -m unittest discover -s jobs/tfexp_policy/tests

# The packages that start goroutines, without those whose tests link every feature: a program with the detector runs
# experiments in their place.
EVERY_FEATURE = $(dir $(shell grep -rl 'stages/all"' --include='*_test.go' $(TOP))) cmd/tfexp/
SIDE_BY_SIDE  = $(filter-out $(EVERY_FEATURE),$(sort $(dir $(shell grep -rlE '^\s+go |\.Go.func' --include='*.go' --exclude='*_test.go' $(TOP)))))
RACED        := examples/search examples/certain "slurm_array -var replicates=12 -var jobs=10"

race: ## test what runs side by side under the race detector, and run experiments with it (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -short -vet=off -timeout 20m $(addprefix ./,$(SIDE_BY_SIDE))
	CGO_ENABLED=1 $(GO) build -race -o bin/race/tfexp ./cmd/tfexp
	@for run in $(RACED); do set -- $$run; file=experiments/$$1.hcl; shift; \
	  GORACE=halt_on_error=1 bin/race/tfexp run --quiet --fresh --out bin/race $$file "$$@" || exit 1; \
	done

lint: ## gofmt, go vet, staticcheck, words of comments, and that one package alone opens files
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 -run "^TestOneDoor$$" .
	.ci/words

features: ## build tfexp without each feature, several at a time (TFEXP_FEATURES=each: one), and run an experiment
	TFEXP_LONG=1 $(GO) test -vet=off -count=1 -timeout 30m -run "^TestFeaturesCanBeRemoved$$" -v .

SYSTEMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

cross: ## check the types of all packages and tests for every system that tfexp supports (make release builds for each)
	TFEXP_LONG=1 TFEXP_SYSTEMS="$(SYSTEMS)" $(GO) test -vet=off -count=1 -timeout 20m -run "^TestOtherSystems$$" -v .

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

release: ## write static programs for every system, with their checksums, to dist/
	rm -rf dist && mkdir dist
	@for system in $(SYSTEMS); do \
	  export GOOS=$${system%/*} GOARCH=$${system#*/}; \
	  file=tfexp-$(VERSION)-$$GOOS-$$GOARCH; [ $$GOOS != windows ] || file=$$file.exe; \
	  echo "dist/$$file"; $(GO) build -ldflags '-s -w' -o dist/$$file ./cmd/tfexp || exit 1; \
	done
	cd dist && sha256sum tfexp-* >SHA256SUMS

BENCHES = $(addprefix ./,$(sort $(dir $(shell grep -rlE '^func Benchmark' --include='*_test.go' $(TOP)))))

bench: ## print the speeds that tfexp promises, at sizes of some seconds
	$(GO) test -short -vet=off -run '^$$' -bench . -benchtime 1x $(BENCHES)

bench-large: ## print them at all sizes, up to a million jobs (minutes)
	$(GO) test -vet=off -run '^$$' -bench . -benchtime 1x -timeout 60m $(BENCHES)

PEERS ?= 100000

bench-peers: $(BIN) ## print how fast other simulators are at the same PEERS jobs (needs python3 and its package index)
	$(PYTHON) -m venv bin/peers
	bin/peers/bin/pip install --quiet --disable-pip-version-check accasim==1.1.3 ciw==3.2.7 || echo "tfexp alone: others could not be installed"
	$(GO) test -c -o bin/peers/heap.test ./hardware/simulated
	bin/peers/bin/python hardware/simulated/peers/peers.py $(BIN) bin/peers/heap.test $(PEERS)

KILLS ?= 100

torture: ## kill tfexp at random moments (KILLS of them): nothing is lost, repeated or left running
	$(GO) test ./cmd/tfexp -count=1 -timeout 60m -run TestTorture -v -args -kills $(KILLS) -docker=$(shell docker version >/dev/null 2>&1 && echo true || echo false) -kills-seed $$(date +%s)

damage: ## damage each file of results in each way, and look that every command bears it (minutes)
	$(GO) test ./cmd/tfexp -count=1 -timeout 240m -run "TestDamagedResults|TestHostileFolder|TestMemoryOfCommands" -v -args -damages 0

SEEDS ?= 10000

chaos: ## let SEEDS seeds decide what befalls runs, make each operation on files fail, and crash runs on all engines: nothing is lost, repeated or left
	$(GO) test ./pipeline -count=1 -timeout 600m -run "TestChaos|TestFaults|TestModel" -v -args -seeds $(SEEDS) -each-fault 1
	$(GO) test ./cmd/tfexp -count=1 -timeout 240m -run "TestCrashAndResume" -v -args -crashes 100

PKG   ?= scheduler
LEAST ?= 0

# Tests with the tag mutate run with each change: they are copies of tests of other packages, which make test runs once.
GREMLINS := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

mutate: ## change PKG (a folder) in one place at a time, and list the changes that no test notices (fails below LEAST percent)
	GOFLAGS="$(GOFLAGS) -tags=mutate" $(GO) run $(GREMLINS) unleash ./$(PKG) --workers 1 --timeout-coefficient 20 --threshold-efficacy $(LEAST)

RUNS ?= 200

equal: ## run RUNS real experiments of two equal policies, quiet or busy: hardly any claims a difference (minutes)
	$(GO) test ./cmd/tfexp -count=1 -timeout 300m -run TestEqualPoliciesForReal -v -args -equal-runs $(RUNS)

FUZZTIME ?= 10m
FUZZ     ?= .

# Each as PACKAGE:NAME.
FUZZERS = $(shell grep -rE '^func Fuzz' --include='*_test.go' $(TOP) | sed 's|^|./|; s|/[^/]*_test.go:func \(Fuzz[A-Za-z0-9]*\).*|:\1|' | grep -E '$(FUZZ)')

fuzz: ## look for input that readers stumble over, one fuzzer after the other (FUZZTIME for each of some 35, so 30m take 17 hours; FUZZ chooses)
	@status=0; echo "$(words $(FUZZERS)) fuzzers, $(FUZZTIME) each"; for fuzzer in $(FUZZERS); do \
	  echo "$${fuzzer#*:} of $${fuzzer%:*}"; \
	  $(GO) test $${fuzzer%:*} -vet=off -run '^$$' -fuzz "^$${fuzzer#*:}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x -parallel 1 || status=1; \
	done; exit $$status

docs: ## write docs/language.md, policies.md, slurm_parameters.md and fields.md from the registries
	$(GO) test ./pipeline/decode -run "^TestReference$$" -update
	TFEXP_UPDATE=1 $(GO) test ./cmd/tfexp/policies -run "^TestCatalogue$$" -count=1
	TFEXP_UPDATE=1 $(GO) test ./stages/batch/commands/slurmconf -run "^TestDecisions$$" -count=1
	TFEXP_UPDATE=1 $(GO) test ./scheduler/workload/fields -run "^TestPage$$" -count=1

papers: ## run the experiments on papers, and write docs/papers.md
	TFEXP_PAPERS=1 $(GO) test ./cmd/tfexp -run "^TestPapersTable$$" -count=1

images: ## draw the pictures of the README from a run of the first experiment (needs chromium)
	TFEXP_GALLERY=fcfs_vs_rr $(GO) test ./cmd/tfexp -run "^TestGallery$$" -count=1
	chromium --headless --no-sandbox --hide-scrollbars --window-size=1180,1100 \
	  --screenshot=docs/images/report.png file://$(CURDIR)/dist/gallery/fcfs_vs_rr/fcfs_vs_rr/report.html 2>/dev/null
	TFEXP_GALLERY=report.png $(GO) test ./cmd/tfexp -run "^TestGallery$$" -count=1

GALLERY ?= stale

gallery: ## run simulated experiments whose pictures are out of date, and write docs/gallery.md (GALLERY=NAME: run NAME)
	TFEXP_GALLERY="$(GALLERY)" $(GO) test ./cmd/tfexp -run "^TestGallery$$" -count=1 -timeout 120m -v

python-jobs: .venv/ready ## install what the training programs in Python need, into .venv
	@/usr/bin/python3 -c 'import torch' 2>/dev/null || echo "For jobs/pytorch install PyTorch too: sudo apt-get install --no-install-recommends python3-torch"

.venv/ready: jobs/tensorflow/requirements.txt jobs/tfexp_job/tfexp_job.py jobs/tfexp_job/pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check -r jobs/tensorflow/requirements.txt jobs/tfexp_job/
	rm -rf jobs/tfexp_job/build jobs/tfexp_job/*.egg-info
	touch $@

clean: ## remove what was built; results stay
	rm -rf bin dist
