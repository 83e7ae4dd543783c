# make run    builds Regente and starts it on an embedded database, with a sandbox account ready
#             (make run DEV="--listen 127.0.0.1:9090" takes another port)
# make test   installs what the tests need and runs all of them
# make check  formatting, lints, licences
# make openapi  writes the OpenAPI document anew
# make container         builds the container image (ENGINE=podman takes another engine than docker)
# make container-static  the same around a binary that is compiled here, without pulling an image

SHELL := /bin/bash
CARGO ?= cargo
DEV ?=
ENGINE ?= docker
TAG ?= regente
FORMAT ?=

.PHONY: run test check tools format openapi container container-static

run:
	@echo "Building Regente; the first time takes some minutes."
	$(CARGO) run --package regente -- dev $(DEV)

test: tools
	$(CARGO) test --workspace --quiet

check: tools
	@$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --quiet --locked cargo-deny
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- --deny warnings
	$(CARGO) deny --all-features check bans licenses sources

format:
	$(CARGO) fmt --all

openapi:
	$(CARGO) run --quiet --package regente -- openapi > openapi.json

container:
	$(ENGINE) build $(FORMAT) --file deploy/Containerfile --tag $(TAG) .

container-static:
	ENGINE=$(ENGINE) TAG=$(TAG) ./scripts/container-static

tools:
	./scripts/install-tools
