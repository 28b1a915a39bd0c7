import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { deciders } from '../../packages/domain/index.ts'
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
  const renamed = new RegExp(`\\b(?:${unbounded.join('|')}) as (\\w+)`, 'g')
  await lawOver(t, sourcesIn('services'), ([path, text]) => {
    const names = [...unbounded, ...[...text.matchAll(renamed)].map(([, name]) => name!)]
    const whole = new RegExp(`\\bread(?:State|Current)\\(\\s*[^()]*\\b(${names.join('|')})\\s*,`)
    t.equal(whole.exec(text)?.[1], undefined, `${path} reads no whole stream that grows without bound`)
  })
})

/** What ends by itself, after so many events. */
const bounded: Readonly<Record<string, string>> = {
  case: 'opened and resolved',
  challenge: 'five wrong answers end it',
  index_key: 'made once, resealed with each new master key',
  intervention: 'proposed and approved',
  log_key: 'announced once',
  organization: 'created once',
  plan: 'created once',
}

/** What grows for ever and has no snapshot, because it grows slowly. By what, and how fast. */
const slow: Readonly<Record<string, string>> = {
  api_key: 'a use is noted once a day',
  branding: 'each time that somebody revises it',
  claim: 'each time that what it stands for changes hands',
  customer: 'each new address or number',
  invitation: 'five an hour to an address',
  invoice: 'each attempt to pay it',
  merchant: 'each member that comes or goes',
  payout_destination: 'each time that somebody saves or removes it',
  period: 'each time that a month is closed or opened again',
  product: 'each time that somebody revises it',
  sandbox_clock: 'each time that a test moves it',
  subscription: 'a renewal each period',
  token_key: 'a key every 90 days',
  webhook_endpoint: 'each time that it fails, recovers or is tested',
  webhook_roster: 'each endpoint that comes or goes',
}

t.test('each kind of stream ends, has snapshots, or is named here with what it grows by', async (t) => {
  const without = deciders.filter(({ snapshot, perOperation }) => !snapshot && !perOperation)
  const named = [...Object.keys(bounded), ...Object.keys(slow)]
  await lawOver(t, without, ({ category }) =>
    t.ok(
      named.includes(category),
      `${category} has a snapshot, or test/laws/unbounded-streams.test.ts says what ends it or how slowly it grows`,
    ),
  )
  await lawOver(t, named, (name) =>
    t.ok(
      without.some(({ category }) => category === name),
      `${name} is a kind of stream without a snapshot: take its line out of test/laws/unbounded-streams.test.ts`,
    ),
  )
})
