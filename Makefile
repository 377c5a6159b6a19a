# tfexp: build, run, test. `make help` lists the targets.

GO          ?= go
BIN         := bin/tfexp
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
SOURCES     := $(shell find cmd pipeline stages estimator scheduler hardware results jobs experiments \( -name '*.go' -o -name '*.hcl' -o -name '*.gz' -o -name '*.tmpl' \) -not -path '*/testdata/*' -not -path 'results/*/*' ) go.mod go.sum

.DEFAULT_GOAL := help
.PHONY: help build run test race lint bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN) ## build bin/tfexp

$(BIN): $(SOURCES)
	CGO_ENABLED=0 $(GO) build -trimpath -o $@ ./cmd/tfexp

run: $(BIN) ## run the first experiment: FCFS against round robin, real training
	$(BIN) run experiments/fcfs_vs_rr.hcl

test: ## run all tests; what needs more than Go skips and says so
	$(GO) test ./...

race: ## run all tests under the race detector
	$(GO) test -race ./...

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

bench: ## print the speeds that tfexp promises
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

docs: ## write docs/language.md anew from what the decoder uses
	$(GO) test ./experiments -run "^TestReference$$" -update

clean: ## remove what was built; results stay
	rm -rf bin
