# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# The map of everyday commands. Each installs the Debian packages it misses (tools/need), builds in
# build/<preset> (tools/build, presets in CMakePresets.json) and leaves the program at build/pinhole.

PREFIX ?= /usr/local
DESTDIR ?=
SECONDS_EACH ?= 600
TARGETS ?=
ARGS ?=
DATA ?= ../shared/data

.DEFAULT_GOAL := release
.PHONY: release demo cluster check test bench tables fuzz coverage format amalgamation docs install clean help

build_needs := build-essential cmake ninja-build zlib1g-dev liblzma-dev libsodium-dev pkgconf python3
clang_needs := $(build_needs) clang-14 lld-14 llvm-14 libclang-rt-14-dev
# Worlds on several machines. Without them the rest is built, and these tests say that they were left out.
bus_needs := libnats-dev nats-server
check_needs := $(clang_needs) libcmocka-dev $(bus_needs)
demo_needs := $(build_needs) clang-14 lld-14 llvm-14 wasi-libc libclang-rt-14-dev-wasm32 libwebsockets-dev
test_needs := $(check_needs) iproute2 nftables doxygen \
	gcc-mingw-w64-x86-64-win32 wasi-libc libclang-rt-14-dev-wasm32 libwebsockets-dev $(if $(shell command -v node),,nodejs)
# For the tests of the page. Where they cannot be had, these tests say that they were left out.
page_needs := chromium $(if $(shell command -v npm),,npm)

release: ## (default) release build: libraries, examples, program at build/pinhole
	@tools/need $(build_needs)
	@tools/build release

demo: ## a world through classic and pinhole, live, in the terminal and on a page; ARGS="--loss 20" passes options
	@tools/need $(demo_needs)
	@test -e build/release/page/demo.wasm || rm -f build/release/.configured # what was installed now is looked for again
	@tools/build release pinhole_program
	@build/pinhole demo $(ARGS)

cluster: ## a world on several machines, all of it here: kill parts by keys; ARGS="--chaos --seeds 2" passes options
	@tools/need $(build_needs) $(bus_needs)
	@tools/build release pinhole_program
	@build/pinhole cluster $(ARGS)

check: ## before each commit: all unit tests in one build, layers, golden packets, README; a minute or so
	@tools/need $(check_needs)
	@tools/test --check

test: ## all tests and checks in all builds, 15 to 25 minutes of two cores; the last line says how many
	@tools/need $(test_needs)
	@tools/need $(page_needs) || true
	@tools/test

bench: release ## measure on this machine: bits, vision, load, net
	@build/pinhole bench bits
	@build/pinhole bench vision
	@build/pinhole bench load
	@build/pinhole bench net

tables: release ## learn the tables of the library anew, DATA=../shared/data; golden packets change with them
	@build/pinhole convert --rate 16 $(DATA)/crowd_lab.csv.gz build/crowd_lab.phrec
	@build/pinhole convert --rate 20 $(DATA)/rocket_cars.csv.gz build/rocket_cars.phrec
	@build/pinhole tune --mixture build/crowd_lab.phrec build/rocket_cars.phrec scene:town scene:wander scene:race \
		scene:asteroids -o src/schema/model_tables.c

fuzz: release ## fuzz every reader, SECONDS_EACH=600 (TARGETS="name ..." for some of them)
	@tools/need $(clang_needs)
	@tools/build clang-debug
	@tools/fuzz --seconds $(SECONDS_EACH) $(TARGETS)

coverage: release ## line coverage per folder; fails below 95 % where we promise it
	@tools/need $(build_needs) libcmocka-dev
	@tools/build coverage
	@tools/coverage

format: ## clang-format over the tracked C files
	@tools/need git clang-format-14
	@git ls-files -z '*.c' '*.h' '*.cpp' | xargs -0 -r clang-format-14 -i

amalgamation: ## the library as two files, build/amalgamation/pinhole.h and pinhole.c
	@tools/need python3
	@tools/amalgamate build/amalgamation

docs: ## the API reference by doxygen, build/docs/html/index.html
	@tools/need doxygen python3
	@tools/docs

install: release ## install below PREFIX=/usr/local (DESTDIR=... to stage)
	@tools/build library-debug
	@DESTDIR="$(DESTDIR)" cmake --install build/library-debug --prefix "$(PREFIX)"
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ]; then ldconfig; fi

clean: ## remove build/
	@rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile
