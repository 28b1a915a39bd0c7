import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { ikw, jsonOf, settingsOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'

const rail = 'mobile_money.SN.wave'
const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
/** In the middle of a day, so that no movement is on another one by chance. */
const behindMs = Date.now() - Date.parse('2026-03-10T12:00:00.000Z')

interface Line {
  readonly reference: string
  readonly amount: number
}

interface Result {
  readonly result: { readonly counts: Readonly<Record<string, number>> }
}

let service: TestService

t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(Date.now() - behindMs) })
})

/** What the operator says of a payout that has ended like this. */
async function payout(amount: number, status: 'paid' | 'failed'): Promise<Line> {
  const { body } = await service.post('/api/v1/payouts', { amount, currency: 'XOF', destination })
  await service.post('/api/test/payouts/callback', { payout_id: body['id'], status })
  await eventually(
    () => service.get(`/api/v1/payouts/${String(body['id'])}`),
    (shown) => shown.body['status'] === status,
  )
  return { reference: identity(String(body['id']), 'po')!, amount: -amount }
}

const madeUp = ({ amount }: Line): Line => ({ reference: randomUUID(), amount })

async function reconcile(directory: string, lines: readonly Line[], flags = ['--sandbox']) {
  const path = join(directory, `${randomUUID()}.csv`)
  const rows = lines.map(({ reference, amount }) => `${reference},${amount},10/03/2026 12:00`)
  writeFileSync(path, ['reference,amount,date', ...rows, ''].join('\n'))
  const asked = ['reconcile', '--rail', rail, ...flags, '--statement', path, '--json']
  return ikw(settingsOf(service), ...asked)
}

t.test('an id that the operator has made up is no reference of ours, whatever it looks like', async (t) => {
  const directory = temporaryDirectory(t)
  const [first, second, third] = [
    await payout(5_000, 'paid'),
    await payout(5_001, 'paid'),
    await payout(5_002, 'paid'),
  ] as const
  // It was given to the operator as well, and no money has moved for it.
  const failed = await payout(5_900, 'failed')
  const refused = await reconcile(directory, [first, second].map(madeUp))
  t.match(refused, {
    code: 2,
    stderr: /such as "[-0-9a-f]{36}", none is ours in sandbox: say --map reference=/,
  })
  const misplaced = await reconcile(directory, [first, second], [])
  t.match(misplaced, { code: 2, stderr: /none is ours in live: say/ }, 'the flag was forgotten')
  const lines = [first, madeUp(second), { ...failed, amount: third.amount }]
  const said = await reconcile(directory, lines)
  const { counts } = jsonOf<Result>(said).result
  t.match(counts, { matched: 2, only_there: 1, only_here: 1 }, said.stderr)
})
