// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The threads sleep between two runs. A run wakes them, each takes the next index until none is
// left, and the last one to finish wakes the caller. A thread that comes when all is taken is not waited
// for: on a busy machine the system may let it wait for milliseconds. A run costs some 10 us beside its work.

#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include <pinhole/net/pool.h>

#include "base/allocator.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

// More threads than this would only wait for each other.
enum { THREADS_MAX = 256 };

static const ph_allocator MEMORY = {0}; // malloc and free

struct ph_pool {
    pthread_t* threads; // room for thread_capacity, started_count of them
    int thread_capacity;
    int started_count;
    pthread_mutex_t mutex; // guards all below, but for next
    pthread_cond_t wake;   // a run has begun, or the end has come
    pthread_cond_t done;   // busy_count has become 0
    unsigned run_number;
    int busy_count; // threads that take part in this run
    bool is_open;   // others may still join it
    bool is_over;
    ph_job_fn* work;
    void* context;
    int count;
    atomic_int next; // the first index that no thread has taken
};

static void take_part(ph_pool* pool)
{
    for (;;) {
        const int index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index >= pool->count) {
            return;
        }
        pool->work(pool->context, index);
    }
}

static void* serve(void* argument)
{
    ph_pool* pool = argument;
    unsigned seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (pool->run_number == seen && !pool->is_over) {
            pthread_cond_wait(&pool->wake, &pool->mutex);
        }
        if (pool->is_over) {
            break;
        }
        seen = pool->run_number;
        if (!pool->is_open) {
            continue;
        }
        ++pool->busy_count;
        pthread_mutex_unlock(&pool->mutex);
        take_part(pool);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy_count == 0) {
            pthread_cond_signal(&pool->done);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static int core_count(void)
{
#if defined(_SC_NPROCESSORS_ONLN)
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
#else
    const long count = 1;
#endif
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (int)count;
}

ph_pool* ph_pool_create(int thread_count)
{
    PH_ASSERT(thread_count >= 0);

    int wanted = thread_count == 0 ? core_count() : thread_count;
    wanted = wanted > THREADS_MAX ? THREADS_MAX : wanted;
    ph_pool* pool = ph_allocate_zeroed(&MEMORY, sizeof *pool);
    pthread_t* threads = ph_allocate_array(&MEMORY, (size_t)wanted, sizeof *threads);
    if (pool == NULL || threads == NULL) {
        ph_release(&MEMORY, pool, sizeof *pool);
        ph_release_array(&MEMORY, threads, (size_t)wanted, sizeof *threads);
        return NULL;
    }
    pool->threads = threads;
    pool->thread_capacity = wanted;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    atomic_init(&pool->next, 0);
    while (pool->started_count < wanted - 1 &&
           pthread_create(&threads[pool->started_count], NULL, serve, pool) == 0) {
        ++pool->started_count;
    }
    return pool;
}

void ph_pool_destroy(ph_pool* pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->is_over = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->started_count; ++i) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    ph_release_array(&MEMORY, pool->threads, (size_t)pool->thread_capacity, sizeof(pthread_t));
    ph_release(&MEMORY, pool, sizeof *pool);
}

int ph_pool_thread_count(const ph_pool* pool)
{
    return pool->started_count + 1;
}

void ph_pool_run(ph_pool* pool, int count, ph_job_fn* work, void* context)
{
    PH_ASSERT(count >= 0);

    pthread_mutex_lock(&pool->mutex);
    pool->work = work;
    pool->context = context;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->is_open = true;
    ++pool->run_number;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    take_part(pool);
    pthread_mutex_lock(&pool->mutex);
    pool->is_open = false;
    while (pool->busy_count > 0) {
        pthread_cond_wait(&pool->done, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

void ph_pool_run_jobs(void* pool, int count, ph_job_fn* job, void* job_context)
{
    ph_pool_run(pool, count, job, job_context);
}
