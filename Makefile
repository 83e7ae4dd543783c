# make run    builds Regente and starts it on an embedded database, with a sandbox account ready
#             (make run DEV="--listen 127.0.0.1:9090" takes another port)
# make test   installs what the tests need and runs all of them, also after one has failed
# make test-times  the same, and prints the dearest 20 of them with their times
# make test-long  every order of what can become of purchases, stopped at each step, many more sequences, and five years of 500 subscriptions;
#             takes hours
#             (make test-long HOURS=8 takes as long: sequences, kill loops, moves and fuzzing, with seeds and a report)
# make test-distributed  the tests of PostgreSQL, on one that the extension citus distributes over three servers
# make fuzz   feeds made-up input to everything that reads what others send (SECONDS=60 for each target)
# make check  formatting, lints, licences
# make openapi  writes the OpenAPI document anew
# make method-table  writes docs/payment-methods.md anew, by the tests that charge every method
# make package  makes a Debian package and an archive with a static binary, in target/package
# make container         builds the container image (ENGINE=podman takes another engine than docker)
# make container-static  the same around a binary that is compiled here, without pulling an image

SHELL := /bin/bash
CARGO ?= cargo
DEV ?=
ENGINE ?= docker
TAG ?= regente
FORMAT ?=
SEEDS ?= 2000
SUBSCRIPTIONS ?= 500
SECONDS ?= 60
# Twice as many tests at once as there are processors: a part of them waits, for time-outs or for other processes.
export RUST_TEST_THREADS ?= $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))

.PHONY: run test test-times test-long test-distributed fuzz check packages tools compiled linters ready format openapi method-table container container-static package

run:
	@echo "Building Regente; the first time takes some minutes."
	$(CARGO) run --profile fast-build --package regente -- dev $(DEV)

test: ready
	$(CARGO) test --workspace --quiet --no-fail-fast

test-times: tools
	CARGO="$(CARGO)" ./scripts/test-times

test-long: tools
ifdef HOURS
	CARGO="$(CARGO)" ./scripts/test-long $(HOURS)
else
	REGENTE_ORDERS=all $(CARGO) test --package regente-domain --test orders
	REGENTE_ORDERS=all REGENTE_SEEDS=$(SEEDS) REGENTE_SUBSCRIPTIONS=$(SUBSCRIPTIONS) $(CARGO) test --package regente --test it -- \
		purchases::orders sequences:: years_at_once
endif

# Skipped are the tests that look into one server: at its plans, at its locks, at who waits for whom. The tests of the cluster count the tasks of each plan.
test-distributed: tools
	./scripts/distributed $(CARGO) test --package regente-store --package regente --test it --no-fail-fast -- \
		postgres distributed cli::cluster --include-ignored \
		--skip a_list_is_read_once --skip what_is_due_is_found_by_an_index --skip a_key_that_is_claimed_anew --skip loses_a_deadlock

fuzz: packages
	./scripts/fuzz $(SECONDS)

check: packages linters
	$(CARGO) fmt --all --check
	$(CARGO) deny --all-features check bans licenses sources
	$(CARGO) clippy --workspace --all-targets --quiet -- --deny warnings

format:
	$(CARGO) fmt --all

openapi:
	$(CARGO) run --quiet --package regente -- openapi > openapi.json

method-table: tools
	REGENTE_WRITE_TABLE=1 $(CARGO) test --package regente --test it --quiet -- method_table::on_sqlite

container:
	$(ENGINE) build $(FORMAT) --file deploy/Containerfile --tag $(TAG) .

container-static:
	ENGINE=$(ENGINE) TAG=$(TAG) ./scripts/container-static

package:
	./scripts/package

# The compiler works on one crate at a time for minutes: what is installed for the tests is made meanwhile.
ready: packages
	@$(MAKE) --no-print-directory --jobs 2 tools compiled

packages:
	@./scripts/install-tools --packages

tools: packages
	@./scripts/install-tools

compiled: packages
	$(CARGO) test --workspace --quiet --no-run

# Built without optimization, since it runs for seconds.
linters: packages
	@$(CARGO) deny --version >/dev/null 2>&1 || CARGO_PROFILE_DEV_DEBUG=0 $(CARGO) install --quiet --locked --debug cargo-deny
