import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

// A stream that has snapshots grows without bound. Who reads the whole of it for each request is slower with
// each event, and whoever can add to it makes others wait.

function sourcesIn(folder: string): readonly (readonly [path: string, text: string])[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [`${folder}/${name}`, readFileSync(join(root, folder, name), 'utf8')])
}

const unbounded = sourcesIn('packages/domain').flatMap(([, text]) => {
  const decider = /export const (\w+): Decider</.exec(text)?.[1]
  return decider && /^ {2}snapshot: \{/m.test(text) ? [decider] : []
})

t.test('streams that grow without bound are read through the executor, from their snapshots', async (t) => {
  t.ok(unbounded.includes('book'))
  const whole = new RegExp(`\\bread(?:State|Current)\\(\\s*[^()]*\\b(${unbounded.join('|')})\\s*,`)
  await lawOver(t, sourcesIn('services'), ([path, text]) => {
    t.equal(whole.exec(text)?.[1], undefined, `${path} reads no whole stream that grows without bound`)
  })
})
