import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded into every process of a soak: SIGUSR2 collects its garbage. By itself a process with little to do
 * does so every few minutes, and what it has not collected yet looks like growth until then.
 */
if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => collect())
}
