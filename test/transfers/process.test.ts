import t from 'tap'
import { vouchedKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { anyIdentity } from '../../packages/contract/identity.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { readState } from '../../packages/kernel/history.ts'
import { auditWholeLog } from '../../services/notary/audit-log.ts'
import { ikw, jsonOf, settingsOf, type Row, type Run } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let payer: string
let receiver: string

t.before(async () => {
  service = await startService(t)
  payer = service.service.credentials.merchant_id
  const details = ['--name', 'Binta', '--country', 'SN', '--currency', 'XOF', '--email', 'binta@shop.test']
  const made = await run('awa', 'merchants', 'create', ...details, '--json')
  receiver = String(jsonOf<Row>(made)['id'])
})

function run(by: string, ...parameters: readonly string[]): Promise<Run> {
  return ikw(settingsOf(service), ...parameters, '--by', by, '--reason', 'Paid into the wrong account')
}

function transfer(amount: number, key: string, by = 'awa'): Promise<Run> {
  const parties = ['--from', payer, '--to', receiver]
  const money = ['--amount', String(amount), '--currency', 'XOF', '--key', key]
  return run(by, 'transfers', 'create', ...parties, ...money, '--json')
}

async function balancesOf(merchant: string): Promise<Readonly<Record<string, number>>> {
  const { store } = service.service.runtime.dependencies
  return { ...(await readState(store, book, bookId(merchant, false, 'XOF'))).balances }
}

async function endOf(made: Run): Promise<Row> {
  const id = String(jsonOf<Row>(made)['subject'])
  const show = async () => jsonOf<Row>(await ikw(settingsOf(service), 'transfers', 'show', id, '--json'))
  return eventually(show, ({ status }) => ['settled', 'refused', 'returned'].includes(String(status)), 30_000)
}

t.test('support moves money from one balance to another, once', async (t) => {
  const before = (await balancesOf(payer))['merchant.available']!
  const made = await transfer(5_000, 'one')
  t.equal(made.code, 0)
  t.match(await endOf(made), { status: 'settled', amount: 5_000, from: payer, to: receiver, reason: null })
  t.equal((await transfer(5_000, 'one')).code, 0, 'the same again')
  t.match(await endOf(made), { status: 'settled' })
  const after = await balancesOf(payer)
  t.match(after, { 'merchant.available': before - 5_000, 'provider:internal': -5_000 })
  t.notOk(Object.keys(after).find((account) => account.startsWith('transfer.clearing')))
  t.strictSame(await balancesOf(receiver), { 'provider:internal': 5_000, 'merchant.available': 5_000 })
})

t.test('what the balance does not cover is refused and says why', async (t) => {
  const before = await balancesOf(payer)
  const proposed = await transfer(50_000_000, 'too much')
  t.match(jsonOf(proposed), { status: 'proposed' })
  const approved = await transfer(50_000_000, 'too much', 'ibra')
  t.match(await endOf(approved), { status: 'refused', reason: /this transfer needs 50,000,000/ })
  t.strictSame(await balancesOf(payer), before)
})

t.test('who approves approves the same amount', async (t) => {
  t.match(jsonOf(await transfer(600_000, 'large')), { status: 'proposed' })
  t.match(jsonOf(await transfer(600_001, 'large', 'ibra')), { status: 'proposed' }, 'which is another one')
})

t.test('a key stands for one transfer', async (t) => {
  await endOf(await transfer(1_000, 'kept'))
  const before = await balancesOf(payer)
  const more = await transfer(2_000, 'kept')
  t.match(more, { code: 2, stderr: /kept stands for another transfer: 1000 XOF/ })
  t.strictSame(await balancesOf(payer), before)
  for (const amount of [600_000, 700_000]) await transfer(amount, 'two amounts')
  await endOf(await transfer(600_000, 'two amounts', 'ibra'))
  const other = await transfer(700_000, 'two amounts', 'ibra')
  t.match(other, { code: 2, stderr: /another transfer/ }, 'however many names it has')
})

t.test('who is suspended neither pays nor is paid by a transfer', async (t) => {
  const known = await transfer(1_000, 'before')
  await endOf(known)
  const before = [await balancesOf(payer), await balancesOf(receiver)]
  for (const suspended of [payer, receiver]) {
    t.equal((await run('awa', 'merchants', 'suspend', suspended)).code, 0)
    t.match(await transfer(1_000, `with ${suspended}`), {
      code: 2,
      stderr: `Merchant ${suspended} is suspended`,
    })
    t.match(await transfer(1_000, 'before'), { code: 0 }, 'what was done before is only repeated')
    t.equal((await run('awa', 'merchants', 'activate', suspended)).code, 0)
  }
  t.strictSame([await balancesOf(payer), await balancesOf(receiver)], before)
})

t.test('a transfer is between two merchants that there are', async (t) => {
  const money = ['--amount', '1', '--currency', 'XOF', '--key', 'x']
  const itself = await run('awa', 'transfers', 'create', '--from', payer, '--to', payer, ...money)
  t.match(itself, { code: 2, stderr: /between two merchants/ })
  const nobody = '0190a1b2-0000-7000-8000-0000000000ff'
  const unknown = await run('awa', 'transfers', 'create', '--from', payer, '--to', nobody, ...money)
  t.match(unknown, { code: 2, stderr: /no merchant/ })
})

t.test('the books are in order afterwards', async (t) => {
  const verified = await ikw(settingsOf(service), 'ledger', 'verify')
  t.match(verified, { code: 0, stdout: /No rule is broken/ })
  t.match(await ikw(settingsOf(service), 'ledger', 'replay'), { code: 0 })
})

const dayMs = 86_400_000

/** What the always-on auditor finds where nothing has happened since the money left, at this time. */
async function foundAfterOut(id: string, now: Date): Promise<readonly string[]> {
  const { postgres, dependencies, asStored } = service.service.runtime
  const { store, vault } = dependencies
  const readOn = async function* (after: number) {
    let isOut = false
    for await (const events of asStored.readOn(after))
      yield events.filter(({ stream, data }) => {
        const wasOut = isOut
        const { template, subject } = data as { template?: string; subject?: { id: string } }
        isOut ||= stream.startsWith('ledger-') && template === 'transfer.out' && subject?.id === id
        return !wasOut
      })
  }
  const { pool } = postgres
  const verifierKeys = () => vouchedKeys({ pool, vault })
  const stored = { ...asStored, readOn }
  const audited = { pool, stored, store, now: () => now, verifierKeys, witnesses: [] }
  const { signal } = new AbortController()
  return (await auditWholeLog(audited, { share: 1, signal })).problems
}

t.test('money that is stuck between two books for a day is told by the auditor', async (t) => {
  const made = await transfer(700, 'stuck')
  t.match(await endOf(made), { status: 'settled' })
  const stuck = (problem: string) => /^L7: .* holds 700 in transfer\.clearing:.* for transfer /.test(problem)
  const uuid = anyIdentity(String(jsonOf<Row>(made)['subject']))!
  t.notOk((await foundAfterOut(uuid, new Date())).some(stuck), 'not at once')
  t.ok((await foundAfterOut(uuid, new Date(Date.now() + dayMs + 1_000))).some(stuck))
})
