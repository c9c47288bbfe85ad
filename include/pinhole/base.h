// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What every other header rests on: export marks, results, assertions, memory, jobs, ids.

#ifndef PINHOLE_BASE_H
#define PINHOLE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of these headers. The build takes its own from here. Before 1.0 a minor version may break the contract.
#define PH_VERSION_MAJOR 0
#define PH_VERSION_MINOR 1
#define PH_VERSION_PATCH 0

/// The version as one number, for the preprocessor: 1002003 is version 1.2.3.
#define PH_VERSION_NUMBER (PH_VERSION_MAJOR * 1000000 + PH_VERSION_MINOR * 1000 + PH_VERSION_PATCH)

/// The version as a text, such as "1.2.3".
#define PH_VERSION_TEXT PH_VERSION_SPELL(PH_VERSION_MAJOR, PH_VERSION_MINOR, PH_VERSION_PATCH)
#define PH_VERSION_SPELL(major, minor, patch) PH_VERSION_QUOTE(major, minor, patch)
#define PH_VERSION_QUOTE(major, minor, patch) #major "." #minor "." #patch

// What only gcc and clang have: attributes and builtins, for speed and for more warnings. With PH_NO_EXTENSIONS they go
// without, as other compilers do; a test builds that.
#if defined(__GNUC__) && !defined(PH_NO_EXTENSIONS)
#define PH_HAS_EXTENSIONS
#endif

// PH_API marks what the library exports. PH_INLINE marks functions that live in a header for speed
// and have one exported twin in the library, for languages that can only call symbols.
#if defined(_WIN32) && defined(PH_SHARED)
#if defined(PH_BUILD)
#define PH_API __declspec(dllexport)
#else
#define PH_API __declspec(dllimport)
#endif
#elif defined(PH_HAS_EXTENSIONS)
#define PH_API __attribute__((visibility("default")))
#else
#define PH_API
#endif
#if defined(PH_HAS_EXTENSIONS) && !defined(_WIN32) && defined(PH_BUILD)
#define PH_INLINE PH_API inline
#else
#define PH_INLINE inline
#endif

#if defined(PH_HAS_EXTENSIONS)
#define PH_NORETURN __attribute__((noreturn))
#define PH_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define PH_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define PH_NORETURN
#define PH_LIKELY(condition) (condition)
#define PH_UNLIKELY(condition) (condition)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the library that the program runs with, such as "1.2.3". Not the one of the headers that it was
/// compiled with, PH_VERSION_TEXT: a shared library may be another. Never NULL. Static storage.
PH_API const char* ph_version(void);

/// How a call went. Everything but PH_OK means that nothing was done (a writer or reader that
/// failed is to be thrown away, or rolled back). The exception is ph_world_set_struct(): it sets
/// all properties but those whose values are refused.
typedef enum ph_result {
    PH_OK = 0,
    /// A field of a def or an argument is not allowed. on_error says which, and what is (error.h).
    PH_ERROR_ARGUMENT,
    /// The allocator returned NULL.
    PH_ERROR_MEMORY,
    /// Writing: the buffer is full. Reading: the bytes end before the value does.
    PH_ERROR_END,
    /// A value outside its declared range, or an encoding that no writer produces.
    PH_ERROR_VALUE,
    /// NaN, or an infinity where the coding has no end to clamp to.
    PH_ERROR_NOT_A_NUMBER,
    /// A quaternion whose length is not 1 (within 1 %), zero included.
    PH_ERROR_NOT_UNIT,
    /// Bytes that are not UTF-8, or a zero byte inside a string.
    PH_ERROR_TEXT,
    /// Longer than the declared maximum.
    PH_ERROR_TOO_LONG,
    /// A declaration: the lower end is not below the upper end, or an end or their distance is not
    /// finite.
    PH_ERROR_RANGE,
    /// A declaration: the range is not a whole number of steps, or the step is not positive.
    PH_ERROR_STEP,
    /// A declaration: zero lies inside the range but between two steps.
    PH_ERROR_ZERO,
    /// A declaration: more levels or bits than the coding has.
    PH_ERROR_WIDTH,
    /// A declaration or a text that makes no sense: the error struct of the call says where and
    /// why. Or the other end has another schema.
    PH_ERROR_SCHEMA,
    /// An id of something that is gone, or never was.
    PH_ERROR_STALE,
    /// A key, a port or the like that is in use already.
    PH_ERROR_TAKEN,
    /// The operating system said no.
    PH_ERROR_SYSTEM,
    /// A queue or a budget has no room for it now. Later it may have.
    PH_ERROR_FULL,
    PH_RESULT_COUNT
} ph_result;

/// One English sentence on a result, never NULL. Static storage.
PH_API const char* ph_result_text(ph_result result);

/// Prints a failed assertion to standard error and aborts.
PH_API PH_NORETURN void ph_assert_fail(const char* condition, const char* file, int line);

// Misuse by the program that calls us: aborts unless NDEBUG is defined (PH_ENABLE_ASSERTS keeps it
// even then). Bytes from outside are never asserted on: those are checked by `if` in every build.
#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
#define PH_ASSERT(condition) ((void)0)
#else
#define PH_ASSERT(condition)                                                                       \
    (PH_LIKELY(condition) ? (void)0 : ph_assert_fail(#condition, __FILE__, __LINE__))
#endif

/// Where memory comes from. Zero-initialised means malloc and free.
/// Both functions are called from the thread that calls the library; but of a host with a pool (net/host.h) from its
/// threads, too, several at once, as soon as blocks go in either direction: then they must allow that.
typedef struct ph_allocator {
    /// Returns size bytes aligned for any type (16 bytes or more), or NULL. size is never 0.
    void* (*allocate)(void* context, size_t size);
    /// Gives back what allocate returned, with the same size. memory is never NULL.
    void (*release)(void* context, void* memory, size_t size);
    void* context;
} ph_allocator;

/// A piece of work, by its index.
typedef void ph_job_fn(void* context, int index);

/// Does a job for every index below count, in any order, on any threads, each exactly once, and comes
/// back when all are done. What the caller wrote before is visible to the jobs, and the other way round
/// afterwards. ph_pool_run_jobs() of pinhole/net/pool.h is one.
typedef void ph_run_jobs_fn(void* context, int count, ph_job_fn* job, void* job_context);

/// The most that one datagram carries, in bytes; lower headers and a secure envelope not counted.
#define PH_PAYLOAD_MAX 1200

/// Positions are int64 millimetres in the whole contract. For now each coordinate lies within this range,
/// 4,295 km, and wraps at its ends: what stands at one end is next to what stands at the other. Beyond it
/// they are refused.
#define PH_POSITION_MIN_MM INT64_C(-2147483648)
#define PH_POSITION_MAX_MM INT64_C(2147483647)

/// Names one entity of one world or client. Opaque, passed by value; {0} is null.
/// The id of an entity that is gone is recognised as stale and never reaches another entity.
typedef struct ph_entity_id {
    uint32_t index1;
    uint32_t generation;
} ph_entity_id;

/// Names one viewer of one world. Opaque, passed by value; {0} is null. Becomes stale in the same way.
typedef struct ph_viewer_id {
    uint32_t index1;
    uint32_t generation;
} ph_viewer_id;

#ifdef __cplusplus
}
#endif

#endif
