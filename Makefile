# The targets are all that CI uses, too (.ci/run). `make` alone lists them.

SHELL       := bash
.SHELLFLAGS := -o pipefail -c

GO        ?= go
BIN       ?= bin/acp-agent
FUZZTIME  ?= 20s
JUDGETIME ?= 1h
TARGETS   ?= .
COUNT     ?= 6
RUNS      ?= 5
KILLS     ?= 1000
TOGETHER  ?= 60s
DIR       ?= .
INTEROP   := testdata/interop
BROWSER   := testdata/browser
LLAMA     := bin/llama/llama-server
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# Linters are pinned here and built on first use. golangci-lint takes minutes to build,
# so it is run by hand: `make golangci`.
GOFUMPT     := $(GO) run mvdan.cc/gofumpt@v0.12.0
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI    := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.DEFAULT_GOAL := help
.PHONY: help build test toolchains lint golangci cross interop browser llama editors picture bench microbench long kill together fuzz fuzz-judge generate update census clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 14

build: ## build the binary into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o $(BIN) ./cmd/acp-agent

# Vet is a part of lint. A larger GOGC makes the compiler and the race detector cheaper by a
# seventh. Without cgo the last line takes what make build compiles.
# The race detector would have each process sleep for a second before it exits.
test: export GOGC = 400
test: export GORACE = atexit_sleep_ms=0
test: export ACP_TEST_FULL = 1
test: ## run all tests in their full form (internal/testkit/testreq), with the race detector
	$(GO) test -race -vet=off -timeout 20m $(TESTFLAGS) ./...
	@# What measures time and memory, or moves much of it, and is not built with the race detector, one package at a time.
	CGO_ENABLED=0 $(GO) test -count=1 -vet=off -p 1 -run '^(TestAll_Cancel|TestRobust_Huge|TestRobust_Long|TestRobust_LargeOutput|TestRobust_Stalled|TestJobs_Gigabyte)' ./tools/builtin ./internal/e2e/protocol ./internal/e2e/sandbox

toolchains: ## try real toolchains in the sandbox (docs/home.md); npm ones are installed into bin/toolchains
	npm install --prefix bin/toolchains --no-save --no-audit --no-fund --silent pnpm@9 yarn@1 deno@2 bun@1 typescript@5 esbuild@0
	PATH="$(CURDIR)/bin/toolchains/node_modules/.bin:$$PATH" ACP_TOOLCHAINS=1 ACP_TEST_FULL=1 $(GO) test -count=1 -timeout 30m -v -run TestToolchains ./sandbox

lint: ## check formatting, vet, staticcheck
	@unformatted="$$($(GOFUMPT) -l .)" && \
		if [ -n "$$unformatted" ]; then echo "gofumpt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(STATICCHECK) ./...

golangci: ## run golangci-lint, which takes minutes the first time
	$(GOLANGCI) run ./...

# What is built here is neither kept nor run, so the compiler need not optimize: half the time.
cross: export GOGC = 400
cross: CROSSFLAGS = -gcflags='all=-N -l'
cross: ## build and vet for every system and processor
	@for p in $(PLATFORMS); do \
		echo "$$p"; \
		export CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/}; \
		$(GO) build $(CROSSFLAGS) ./... && $(GO) vet $(CROSSFLAGS) ./... || exit 1; \
	done

interop: $(INTEROP)/node_modules ## talk to the official TypeScript SDK, acpx and the reference servers of MCP, have the official SDKs of Anthropic and OpenAI read what is sent, judge by the schema and the registry's rules
	ACP_REQUIRE_ALL=1 ACP_TEST_FULL=1 $(GO) test -count=1 -run 'Interop|Schema' ./acp/... ./internal/e2e/...

# npm ci leaves the folder's time alone when nothing changes, hence the touch.
$(INTEROP)/node_modules: $(INTEROP)/package-lock.json
	cd $(INTEROP) && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

browser: $(BROWSER)/node_modules ## open an exported page in headless Chromium, use its search, and have axe judge it
	ACP_REQUIRE_ALL=1 $(GO) test -count=1 -v -run '^TestPage_InABrowser$$' ./export

$(BROWSER)/node_modules: $(BROWSER)/package-lock.json
	cd $(BROWSER) && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

llama: $(LLAMA) ## drive the binary with a real llama.cpp server, unpacked from Debian sid into bin/llama, and a model of random weights
	ACP_LLAMA=$(CURDIR)/$(LLAMA) $(GO) test -count=1 -v -run '^TestLlama' ./internal/e2e/models

$(LLAMA): testdata/llama/server.sh
	testdata/llama/server.sh $(@D)

editors: ## play every script in the model of every editor; the table goes to bin/editors.md
	@mkdir -p bin
	ACP_EDITORS=$(CURDIR)/bin/editors.md $(GO) test -count=1 -timeout 30m -run '^TestEditors$$' ./internal/e2e/scripts

picture: $(BROWSER)/node_modules ## draw the pictures of the demo in the README and of an exported page again
	$(GO) test -count=1 -run '^TestDemo_Picture$$' ./cmd/acp-agent -picture
	$(GO) test -count=1 -run '^TestPage_Picture$$' ./export -picture

bench: ## measure the agent beside a bare program, RUNS times (docs/performance.md), samples into bench.txt
	$(GO) vet ./testdata/bench/...
	$(GO) run ./testdata/bench -runs $(RUNS) -o bench.txt

microbench: ## run the benchmarks of the packages, COUNT times each, into bench.txt (compare with benchstat)
	$(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) ./... | tee bench.txt

long: export ACP_TEST_FULL = 1
long: ## run the tests of generated cases with many more cases, and load the sessions of every script again
	$(GO) test -count=1 -timeout 60m ./store -damages 2000
	$(GO) test -count=1 -timeout 60m ./workspace ./tools/builtin -rapid.checks 200
	$(GO) test -race -count=1 -timeout 60m -run '^TestScript$$' ./internal/e2e/scripts -load-all

kill: ## kill the agent at KILLS random moments of its turns, and load the session each time; goes on from the count in KILLS_DONE
	$(GO) test -count=1 -run '^TestKill_AtAnyMoment$$' -v -timeout 0 ./internal/e2e/protocol -kills $(KILLS) $(if $(KILLS_DONE),-kills-done $(abspath $(KILLS_DONE)))

together: ## let two agents work over one home for TOGETHER, and want each other's sessions
	$(GO) test -count=1 -run '^TestStored_Together$$' -v -timeout 0 ./internal/e2e/protocol -together $(TOGETHER)

fuzz: ## run every fuzz target for FUZZTIME, or those whose line "dir target" matches TARGETS
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's|/[^/]*:func | |' | grep -E '$(TARGETS)' | sort | \
		while read -r dir target; do \
			echo "$$dir $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$dir" || exit 1; \
		done

fuzz-judge: ## run generated commands that the judge allows in real bash, in a sealed namespace, for JUDGETIME
	$(GO) test -count=1 -run '^TestJudge_DifferentialFuzz$$' -v -timeout 0 ./permissions/command -fuzzjudge $(JUDGETIME)

generate: $(INTEROP)/node_modules ## write the generated code again
	$(GO) generate ./...

update: ## write the golden files of the tests again
	@grep -rlE --include='*_test.go' 'flag\.Bool\("update"' . | xargs -r -n1 dirname | sort -u | \
		while read -r dir; do $(GO) test -count=1 "$$dir" -update || exit 1; done

census: ## count types, methods, fields and lines of the tree in DIR
	@$(GO) run ./testdata/census -dir $(DIR)

clean: ## remove what the other targets made
	rm -rf bin bench.txt $(INTEROP)/node_modules $(BROWSER)/node_modules
