// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few threads that do one thing many times: `work` for every index below a count, in any order,
// each exactly once. The caller's thread works, too, and goes on when all is done.
//
//     ph_pool* pool = ph_pool_create(2);
//     ph_pool_run(pool, viewer_count, step_viewer, context);
//     ph_pool_destroy(pool);

#ifndef PINHOLE_NET_POOL_H
#define PINHOLE_NET_POOL_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ph_pool ph_pool;

/// thread_count is 1 or more, the caller's own included; 0: as many as there are cores. Fewer are
/// used when the system refuses some.
/// @return NULL when there is no memory.
PH_API ph_pool* ph_pool_create(int thread_count);
PH_API void ph_pool_destroy(ph_pool* pool); // NULL is allowed; nothing may be running

/// How many threads work, the caller's own included: 1 or more.
PH_API int ph_pool_thread_count(const ph_pool* pool);

/// From one thread at a time. All that the caller wrote before is visible to the work, and all that
/// the work wrote to the caller afterwards.
PH_API void ph_pool_run(ph_pool* pool, int count, ph_job_fn* work, void* context);

/// The same for worlds: run_jobs = ph_pool_run_jobs and run_jobs_context = the pool, in ph_world_def.
PH_API void ph_pool_run_jobs(void* pool, int count, ph_job_fn* job, void* job_context);

#ifdef __cplusplus
}
#endif

#endif
