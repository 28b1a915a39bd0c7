import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

/** Where one of these cannot be loaded, a start fails: it is tried again. */
const loadedAtStart = [
  'infra/mail/files.ts',
  'infra/mail/smtp.ts',
  'infra/postgres/migrate.ts',
  'infra/postgres/server/binaries.ts',
  'infra/secrets/signed-tokens.ts',
  'services/composition/bus.ts',
  'services/composition/dependencies.ts',
  'services/composition/engines.ts',
  'services/composition/observing/log.ts',
  'services/composition/observing/telemetry.ts',
  'services/composition/serve.ts',
]

const files = ['packages', 'projections', 'infra', 'services'].flatMap((layer) =>
  readdirSync(join(root, layer), { recursive: true, encoding: 'utf8' }).map((name) => join(layer, name)),
)
/** Each command is a process of its own. */
const running = files.filter((path) => path.endsWith('.ts') && !path.startsWith('services/cli/'))

t.test('what a running service loads late is loaded by lateModule(), not by import()', async (t) => {
  await lawOver(t, running, (path) => {
    if (loadedAtStart.includes(path)) return
    t.notMatch(readFileSync(join(root, path), 'utf8'), /(?<!typeof )\bimport\(['"\w]/, path)
  })
})
