import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's folder, also for a test that runs compiled from `dist`. */
export const root = join(
  dirname(fileURLToPath(import.meta.url)),
  import.meta.url.includes('/dist/') ? '../../..' : '../..',
)

/** Where the project's compiled files are. */
export const compiled = join(root, 'dist')

/** Where the broker's jars are fetched to, once for this copy of the sources, also for `make kafka`. */
export const brokerJars = join(root, '.data', 'kafka-jars')
