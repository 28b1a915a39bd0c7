import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Like a service that serves on when it is told to end: until there is a file `end` in its directory. */
const directory = process.env['DIRECTORY']!
const lookEveryMs = 10

process.on('SIGTERM', () => writeFileSync(join(directory, 'told'), ''))
process.once('disconnect', () => process.exit(0))
setInterval(() => {
  if (existsSync(join(directory, 'end'))) process.exit(0)
}, lookEveryMs)
writeFileSync(join(directory, 'ready'), '')
