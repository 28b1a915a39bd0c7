import t from 'tap'
import { identity, publicId } from '../../packages/contract/identity.ts'
import type { RailState } from '../../packages/kernel/ports/rails.ts'
import { cases } from '../../projections/cases.ts'
import { ikw, jsonOf, settingsOf, type Row } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { ScriptedRail } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const operator = new ScriptedRail()
let service: TestService

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: operator }] })
})

const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const amount = 5_000
const fee = 50

const paid: RailState = { state: 'succeeded' }
const failed: RailState = { state: 'failed', code: 'operator_declined', message: 'no' }
const returned: RailState = { state: 'returned' }

async function pay(): Promise<string> {
  const { body } = await service.post('/api/v1/payouts', { amount, currency: 'XOF', destination })
  const id = identity(String(body['id']), 'po')!
  await operator.submitted(({ reference }) => reference === id)
  return id
}

async function status(id: string): Promise<unknown> {
  return (await service.get(`/api/v1/payouts/${id}`)).body['status']
}

/** Available and reserved. */
async function money(): Promise<readonly [number, number]> {
  const { body } =
    await service.get<Record<'available' | 'reserved', { amount: number }[]>>('/api/v1/balance')
  return [body.available[0]!.amount, body.reserved[0]?.amount ?? 0]
}

async function settled(before: number, change: number): Promise<void> {
  await eventually(money, ([available, reserved]) => available === before + change && reserved === 0)
}

async function openedFor(subject: string): Promise<readonly string[]> {
  const { reads, store } = service.service.runtime.dependencies
  await reads.reached(await store.head(), 10_000)
  const where = [{ column: 'subject', operator: '=', value: subject }] as const
  const page = await reads.page<{ kind: string }>({ from: cases.name, where, order: 'created', limit: 10 })
  return page.rows.map(({ kind }) => kind)
}

interface Told {
  readonly words: readonly RailState[]
  readonly ends: string
  /** What the merchant has less than before. */
  readonly costs: number
  readonly opens: readonly string[]
}

const stories: Readonly<Record<string, Told>> = {
  'paid, then failed: it is given back': { words: [paid, failed], ends: 'failed', costs: 0, opens: [] },
  'paid, then returned': { words: [paid, returned], ends: 'failed', costs: 0, opens: [] },
  'failed, then paid: it is charged again': {
    words: [failed, paid],
    ends: 'paid',
    costs: amount + fee,
    opens: [],
  },
  'failed, then paid, then returned': {
    words: [failed, paid, returned],
    ends: 'failed',
    costs: 0,
    opens: [],
  },
  'failed, then returned: nothing lies elsewhere': {
    words: [failed, returned],
    ends: 'failed',
    costs: 0,
    opens: [],
  },
}

for (const [name, told] of Object.entries(stories)) tell(name, told)

function tell(name: string, { words, ends, costs, opens }: Told): void {
  t.test(`a payout ${name}`, async (t) => {
    const [before] = await money()
    const id = await pay()
    for (const [index, word] of words.entries()) {
      await operator.say(id, word)
      await operator.report(id, word)
      const isOver = index === words.length - 1
      const expected = isOver ? ends : word === paid ? 'paid' : 'failed'
      await eventually(
        () => status(id),
        (now) => now === expected,
      )
    }
    t.equal(await status(id), ends)
    await settled(before, -costs)
    for (const word of words.slice(-1)) await operator.report(id, word)
    t.equal(await status(id), ends, 'a repeat decides nothing')
    await eventually(
      () => openedFor(id),
      (found) => found.length >= opens.length,
    )
    t.strictSame(await openedFor(id), opens)
  })
}

t.test('a word that the operator does not say again is late, and changes nothing', async (t) => {
  const [before] = await money()
  const id = await pay()
  await operator.say(id, paid)
  await operator.report(id, failed)
  t.equal(await status(id), 'paid')
  await settled(before, -(amount + fee))
  t.strictSame(await openedFor(id), [])
})

t.test('what cannot be charged again is a case', async (t) => {
  const id = await pay()
  await operator.say(id, failed)
  await eventually(money, ([, reserved]) => reserved === 0)
  const [available] = await money()
  const rest = await service.post('/api/v1/payouts', {
    amount: available - 6_000,
    currency: 'XOF',
    destination,
  })
  t.equal(rest.status, 201)
  await operator.say(id, paid)
  await operator.report(id, paid)
  const kinds = await eventually(
    () => openedFor(id),
    (found) => found.length > 0,
  )
  t.strictSame(kinds, ['payout_contradicted'])
  t.equal(await status(id), 'failed', 'until people have decided')

  const settings = settingsOf(service)
  const rows = jsonOf<Row[]>(await ikw(settings, 'cases', 'list', '--json'))
  t.match(rows, [{ kind: 'payout_contradicted', status: 'open', subject: publicId('po', id) }])
  const [{ id: opened }] = rows as [{ id: string }]
  const metrics = async () => (await service.health<string>('/metrics')).body
  const counts = (open: number) =>
    eventually(metrics, (text) => text.includes(`cases_open{kind="payout_contradicted"} ${open}`))
  await counts(1)
  const shown = await ikw(settings, 'cases', 'show', opened)
  t.match(shown.stdout, /5000.*XOF.*cannot be charged again: /s, 'it says why, and about how much')

  const unsigned = await ikw(settings, 'cases', 'resolve', opened, '--by', 'awa')
  t.match(unsigned, { code: 2, stderr: /--reason/ }, 'nothing is decided without a reason')
  const signed = ['--by', 'awa', '--reason', 'The operator takes it back']
  t.equal((await ikw(settings, 'cases', 'resolve', opened, ...signed)).code, 0)
  await counts(0)
  t.strictSame(jsonOf(await ikw(settings, 'cases', 'list', '--json')), [])
  const all = jsonOf<Row[]>(await ikw(settings, 'cases', 'list', '--all', '--json'))
  t.match(all, [{ id: opened, status: 'resolved' }])
  const events = await service.service.runtime.dependencies.store.readStream(`case-${opened}`, 0)
  t.match(events.at(-1), { type: 'CaseResolved', metadata: { actor: 'cli:awa' } })
  await operator.say(identity(String(rest.body['id']), 'po')!, failed)
  await eventually(money, ([restored]) => restored > amount + fee)
})

const undecided: Readonly<Record<string, Told>> = {
  'paid, then returned, then paid: the merchant and the recipient have it': {
    words: [paid, returned, paid],
    ends: 'failed',
    costs: 0,
    opens: ['payout_contradicted'],
  },
  'failed, then paid, then returned, then paid': {
    words: [failed, paid, returned, paid],
    ends: 'failed',
    costs: 0,
    opens: ['payout_contradicted'],
  },
}

for (const [name, told] of Object.entries(undecided)) tell(name, told)
