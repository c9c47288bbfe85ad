# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT

# WebAssembly with Debian's clang and wasi-libc (packages clang-14 wasi-libc libclang-rt-14-dev-wasm32).

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-14)
set(CMAKE_RANLIB llvm-ranlib-14)
# CMake's own trial of the compiler need not link.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
