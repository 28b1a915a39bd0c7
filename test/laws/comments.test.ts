import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

const folders = ['packages', 'projections', 'infra', 'services', 'bench', 'test']
const linesMax = 3

/** What comments say, whichever way they are marked; `//` on lines that follow each other is one comment. */
const comment = /^ *\/\*\*(?<block>[^/].*?)\*\/$|(?<lines>(?:^ *\/\/[^\n]*\n)+)/gms

const comments = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .flatMap((name) => {
      const found = [...readFileSync(join(root, folder, name), 'utf8').matchAll(comment)]
      return found.map(({ groups }) => ({
        path: `${folder}/${name}`,
        said: groups!['block'] ?? groups!['lines']!,
      }))
    }),
)

t.test('a comment says why in at most three lines', async (t) => {
  await lawOver(t, comments, ({ path, said }) => {
    const lines = said.split('\n').map((line) => line.replace(/^ *(\*|\/\/)?/, '').trim())
    const count = lines.filter((line) => line !== '').length
    t.ok(count <= linesMax, `${path}: ${lines.find((line) => line !== '')} … has ${count} lines`)
  })
})
