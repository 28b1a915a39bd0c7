import { relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import root from 'tap'

/*
 * Runs the test files that it is given one after the other, in one process: to load the service, and to warm
 * it up, takes more time than most files take. What a file leaves open for its tests is closed at the end.
 */

const tests = fileURLToPath(new URL('..', import.meta.url))
let counted = 0

async function load([path, ...rest]: readonly string[]): Promise<void> {
  if (path === undefined) return
  const started = performance.now()
  await import(pathToFileURL(resolve(path)).href)
  // Queued behind the tests of the file. The next one is loaded within: tap ends when nothing is queued.
  void root.test(relative(tests, path), async (t) => {
    // tap counts what it has printed when more follows.
    t.comment('checked')
    const checked = root.counts.total - counted
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    t.ok(checked > 0, `${checked} checked, ${seconds} s`)
    counted = root.counts.total + 1
    await load(rest)
  })
}

await load(process.argv.slice(2))
