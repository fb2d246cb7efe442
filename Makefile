# Everything here is a go command that also works by hand.
.DEFAULT_GOAL := help
.PHONY: help build test race failpoints lint fuzz golden bench load crash simulate services tidy cross check

FUZZTIME ?= 60s
# The linter shares what build compiles.
LINT := CGO_ENABLED=0 GOFLAGS=-trimpath go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w"
TEST := go run ./internal/testcount
# Whatever hangs ends soon; only what kills the program everywhere takes its time.
OTHERS = -timeout=10m $(filter-out chela/cmd/chela,$(shell go list ./...))
PROGRAM = -timeout=25m ./cmd/chela
CROSS := CGO_ENABLED=0 go build -trimpath -gcflags "all=-N -l" -o /dev/null ./cmd/chela

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

build: ## build bin/chela
	$(BUILD) -o bin/ ./cmd/chela

test: ## run all tests
	@$(TEST) $(OTHERS)
	@$(TEST) $(PROGRAM)

race: ## run all tests with the race detector, in random order
	@$(TEST) -race -shuffle=on $(OTHERS)
	@$(TEST) -race -shuffle=on $(PROGRAM)

failpoints: ## run the tests that need a build with failpoints
	@$(TEST) -timeout=10m -tags=failpoint -race -shuffle=on ./internal/fail
	@$(TEST) -timeout=10m -tags=failpoint -race -shuffle=on -run=Fail ./internal/store
	@$(TEST) -timeout=10m -tags=failpoint -race -shuffle=on -run=Fail ./internal/work
	@$(TEST) -timeout=10m -tags=failpoint -race -shuffle=on -run=Fail ./internal/job

lint: ## look for suspicious code and wrong formatting
	$(LINT) run ./...

fuzz: ## run each fuzz target for FUZZTIME, 60s by default
	go run ./internal/fuzzall $(FUZZTIME)

golden: ## write the golden files anew, to be read as a diff
	go test $$(grep -rl --include=*_test.go 'flag.Bool("update"' . | xargs -n 1 dirname | sort -u) -update

bench: ## measure speed and size, and fail where a target is missed
	go test -C bench -count=1 -timeout=1h -run='^TestTargets$$' -targets

load: build ## measure the server under load, and fail where a target is missed
	go run ./bench/load all

crash: ## kill the program at every failpoint, again at all of its recovery, and fail every statement
	$(TEST) -count=1 -timeout=2h -run='Crash|Fault|Lost' ./cmd/chela -crash.whole
	$(TEST) -count=1 -timeout=1h -run=SpendingTogether ./internal/cost -spend.calls=10000

simulate: ## let a year of 500 routines pass on SQLite, and a month of them on PostgreSQL
	go test -count=1 -timeout=2h -v -run=SimulatedTime ./internal/routine -simulate.days=365 -simulate.routines=500

services: ## install what the tests need, where that is possible
	@scripts/services.sh

tidy: ## check that go.mod names what is used
	go mod tidy -diff

cross: ## build for the systems of others, quickly instead of well
	GOOS=linux GOARCH=arm64 $(CROSS)
	GOOS=darwin GOARCH=arm64 $(CROSS)
	GOOS=windows GOARCH=amd64 $(CROSS)

check: services tidy build cross lint race failpoints ## all that must pass before a change is taken
