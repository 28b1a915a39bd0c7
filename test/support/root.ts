import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the whole project, also for a test that runs compiled from `dist`. */
export const root = join(
  dirname(fileURLToPath(import.meta.url)),
  import.meta.url.includes('/dist/') ? '../../..' : '../..',
)

/** Where the compiled files of the project are. */
export const compiled = join(root, 'dist')

/** Where the broker's jars are fetched to, once for this copy of the sources, also for `make kafka`. */
export const brokerJars = join(root, '.data', 'kafka-jars')
