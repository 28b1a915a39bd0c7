import { Logger, run, runMigrations } from 'graphile-worker'

/*
 * Plain JavaScript with packages of its own: neither the service nor its type check knows of them.
 */

const quiet = new Logger(() => () => undefined)

/**
 * Opens Graphile Worker on a pool of `pg`.
 *
 * @param {import('pg').Pool} pool
 */
export async function openWorker(pool) {
  await runMigrations({ pgPool: pool, logger: quiet })
  return {
    /**
     * Runs so many jobs that do nothing, all of them due; answers how many milliseconds it took.
     *
     * @param {number} count
     */
    async work(count) {
      await pool.query(
        `select graphile_worker.add_jobs(array(
          select json_populate_record(null::graphile_worker.job_spec, '{"identifier": "nothing"}')
          from generate_series(1, $1::integer)))`,
        [count],
      )
      let left = count
      const begun = performance.now()
      const runner = await run({
        pgPool: pool,
        logger: quiet,
        concurrency: 128,
        pollInterval: 200,
        noHandleSignals: true,
        preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
        taskList: { nothing: () => void left-- },
      })
      while (left > 0) await new Promise((resolve) => setTimeout(resolve, 5))
      const ms = performance.now() - begun
      await runner.stop()
      return ms
    },
  }
}
