import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { devNull } from 'node:os'

const load = createRequire(import.meta.url)

/**
 * A package that is loaded when it is first needed, which may be when the process can open no more files.
 * Node remembers for ever that an `import()` has failed, and of a `require` that a `package.json` could not
 * be read. So files are kept open that give way to those of the package.
 */
export function lateModule<Module>(name: string): () => Module {
  let loaded: Module | undefined
  return () => (loaded ??= loadNow(name) as Module)
}

/** Nothing else is done meanwhile, and one file is read after the other. */
function loadNow(name: string): unknown {
  for (const one of kept.splice(0)) closeSync(one)
  try {
    return load(name)
  } finally {
    keepOpen()
  }
}

const kept: number[] = []
/** One would do, but other threads open files, too. */
const keptOpen = 4

function keepOpen(): void {
  try {
    while (kept.length < keptOpen) kept.push(openSync(devNull, 'r'))
  } catch {
    // The next package to be loaded keeps those that this one could not.
  }
}

keepOpen()
