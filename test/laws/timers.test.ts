import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { processes } from '../../services/families.ts'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

const domain = 'packages/domain'

/**
 * The kinds of timers that a file starts: in a call of `start`, or of its own function that is given one.
 * A name stands for the constant that it is.
 */
function kindsStarted(text: string): readonly string[] {
  const own = [...text.matchAll(/function (\w+)\(kind: string/g)].map(([, name]) => name!)
  const calls = [
    ...text.matchAll(new RegExp(`(?<!function )\\b(?:${['start', ...own].join('|')})\\(([^,]+),`, 'g')),
  ]
  const given = calls.map(([, kind]) => kind!).filter((kind) => own.length === 0 || kind !== 'kind')
  return given.map((kind) => {
    const literal = kind.startsWith("'") ? kind : new RegExp(`\\b${kind} = ('\\w+')`).exec(text)?.[1]
    return literal?.slice(1, -1) ?? `${kind}, which is no constant of the file`
  })
}

t.test('for every timer that an event starts somebody does the work', async (t) => {
  const worked = processes.flatMap(({ timers }) => Object.keys(timers ?? {}))
  const files = readdirSync(join(root, domain), { recursive: true, encoding: 'utf8' })
  const starting = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file: `${domain}/${file}`, text: readFileSync(join(root, domain, file), 'utf8') }))
    .filter(({ text }) => /import [^;]*?\bstart\b[^;]*? from '[./]*kernel\/timer\.ts'/.test(text))
  await lawOver(t, starting, async ({ file, text }) => {
    await lawOver(t, kindsStarted(text), (kind) =>
      t.ok(
        worked.includes(kind),
        `${file} starts ${kind}: a process in services/processes has it in its timers`,
      ),
    )
  })
  const known = starting.flatMap(({ text }) => kindsStarted(text))
  t.strictSame([...new Set(known)].toSorted(), [...new Set(worked)].toSorted(), 'and none waits for nothing')
})
