import { randomBytes } from 'node:crypto'
import t from 'tap'
import { v7 } from 'uuid'
import { readConfiguration } from '../../infra/configuration.ts'
import { claim, claimedName, type Claim } from '../../packages/domain/claims/claim.ts'
import { readState } from '../../packages/kernel/history.ts'
import { claiming } from '../../services/composition/claiming.ts'
import { deciders } from '../../packages/domain/index.ts'
import { Sealed } from '../../services/cli/stores/sealed.ts'
import { openRuntime, type Runtime } from '../../services/composition/dependencies.ts'
import { claimProcess } from '../../services/processes/claims.ts'
import { startProcesses } from '../../services/processes/runner/main.ts'
import { startTimers } from '../../services/processes/runner/timers.ts'
import { runProjector } from '../../services/projector/service.ts'
import { Script } from '../support/processes/child-process.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { scenarios } from '../support/scenarios.ts'
import { seller, sellerTaker, type Seller } from '../support/commerce/sellers.ts'

const merchant = v7()
const hourMs = 3_600_000
/** A little more than a hold lasts. */
const aheadMs = 16_000
const holder = { category: 'test_seller', id: v7(), owner: { merchant, livemode: false } }
const hold = v7()
const asked = { kind: 'seller_external_id', holder, hold, forMs: hourMs } as const
const held = {
  type: 'ClaimHeld',
  data: { kind: asked.kind, holder, hold, until: '2026-01-01T13:00:00.000Z' },
} as const
const kept = { type: 'ClaimKept', data: { hold } } as const
const freed = { type: 'ClaimFreed', data: { hold } } as const
const late = v7()

scenarios(claim, {
  'who comes first holds it': { when: { type: 'HoldClaim', data: asked }, then: [held] },
  'who comes later does not, also when the time is over: only the sweeper knows what became of it': {
    given: [held],
    when: { type: 'HoldClaim', data: { ...asked, hold: late } },
    then: [],
    context: { now: new Date('2027-01-01T00:00:00Z') },
  },
  'what is held is kept': { given: [held], when: { type: 'KeepClaim', data: { hold } }, then: [kept] },
  'what is held is freed': { given: [held], when: { type: 'FreeClaim', data: { hold } }, then: [freed] },
  'what is kept is freed when its holder is done with it': {
    given: [held, kept],
    when: { type: 'FreeClaim', data: { hold } },
    then: [freed],
  },
  'what was freed is held by the next one': {
    given: [held, freed],
    when: { type: 'HoldClaim', data: { ...asked, hold: late } },
    then: [{ type: 'ClaimHeld', data: { ...held.data, hold: late } }],
  },
  'a hold that is over keeps nothing': {
    given: [held, freed],
    when: { type: 'KeepClaim', data: { hold } },
    then: [],
  },
  'a hold that is over frees nothing of the next one': {
    given: [held, freed, { type: 'ClaimHeld', data: { ...held.data, hold: late } }],
    when: { type: 'FreeClaim', data: { hold } },
    then: [],
  },
})

t.test('200 at once in two processes that are killed: one holder each, and nothing stays held', async (t) => {
  const { url } = await testDatabase(t)
  const environment = {
    DATA_DIR: temporaryDirectory(t),
    POSTGRES_URL: url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'silent',
  }
  // To its clock, whatever is held has been held for long: it sweeps while requests are under way.
  const clock = () => new Date(Date.now() + aheadMs)
  const runtime = await openRuntime(readConfiguration(environment), { clock })
  const { dependencies, postgres } = runtime
  const projector = runProjector(runtime)
  const processes = await startProcesses({
    dependencies,
    pool: postgres.pool,
    deciders: [...deciders, seller],
    policies: [],
    processes: [claimProcess([sellerTaker])],
  })
  const timing = startTimers({
    dependencies,
    pool: postgres.pool,
    processes: [claimProcess([sellerTaker])],
    instance: 'test',
  })
  t.teardown(async () => {
    await Promise.all([processes.close(), timing.close()])
    await projector.close()
    await runtime.close()
  })

  const names = Array.from({ length: 5 }, (_, index) => `shop ${index}`)
  const opened: [name: string, id: string][] = []
  const run = async (own: readonly string[], linesBeforeKill: number) => {
    const parameters = [JSON.stringify(environment), merchant, own.join(','), '100']
    const script = new Script(t, 'claiming-process', parameters)
    for (let lines = 0; lines < linesBeforeKill; lines++) {
      const [word, ...rest] = (await script.line()).split(' ')
      if (word === 'done') break
      if (word === 'opened') opened.push([rest.slice(0, 2).join(' '), rest[2]!])
    }
    await script.kill()
  }
  await Promise.all([run(names, 130), run(names, 1)])
  await Promise.all([run(names.slice(2), Infinity), run(names.slice(3), 130)])
  // Whoever was told so may have been killed, and whoever waits loses to the sweeper.
  while (opened.length === 0) {
    names.push(`shop ${names.length}`)
    await run(names.slice(-1), Infinity)
  }

  const own = { merchant, livemode: false }
  const claimOf = async (name: string) =>
    dependencies.blindIndex(claimedName('seller_external_id', name, own))
  const stateOf = async (name: string) => readState(dependencies.store, claim, await claimOf(name))
  const isSettled = (states: readonly Claim[]) => states.every(({ status }) => status !== 'held')
  const states = await eventually(() => Promise.all(names.map(stateOf)), isSettled)

  const events = await dependencies.store.readAll(0, 100_000, {
    categories: [seller.category, claim.category],
  })
  t.notOk(JSON.stringify(events).includes(names[0]!), 'no event or stream shows the name')
  const sellers = new Map<string, Seller>()
  for (const { stream } of events.filter(({ type }) => type === 'TestSellerOpened')) {
    const id = stream.slice(seller.category.length + 1)
    sellers.set(id, await readState(dependencies.store, seller, id))
  }
  const holders = new Map<string, string | undefined>()
  await lawOver(t, names.entries(), async ([index, name]) => {
    const claimId = await claimOf(name)
    const owners = [...sellers].filter(([, state]) => state.held.some((one) => one.claim === claimId))
    const state = states[index]!
    t.strictSame(
      owners.map(([id]) => id),
      state.status === 'kept' ? [state.holder.id] : [],
      `${name} is ${state.status}, and its holder is the only one`,
    )
    holders.set(name, owners[0]?.[0])
    if (state.status === 'kept') return
    const id = v7()
    const envelope = { ...own, actor: 'test', correlation: id }
    const wanted = [
      { kind: 'seller_external_id', value: name, refusal: 'resource_must_not_exist_yet' } as const,
    ]
    await claiming(
      { dependencies, envelope },
      { category: seller.category, id },
      {
        wanted,
        take: (taken) =>
          dependencies.executor.send(seller, id, { type: 'OpenSeller', data: { held: taken } }, envelope),
      },
    )
    t.match(await stateOf(name), { status: 'kept', holder: { id } }, 'what is free can be had')
  })
  await lawOver(t, opened, ([name, id]) => t.equal(holders.get(name), id, 'who was told so'))
})

t.test('the name of a claim outlives the master key', async (t) => {
  const { url } = await testDatabase(t)
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const settings = { DATA_DIR: temporaryDirectory(t), POSTGRES_URL: url, LOG_LEVEL: 'silent' }
  const withKey = async <Result>(key: string, work: (runtime: Runtime) => Promise<Result>) => {
    const runtime = await openRuntime(readConfiguration({ ...settings, MASTER_KEY: key }))
    return work(runtime).finally(() => runtime.close())
  }
  const nameOf = ({ dependencies }: Runtime) => dependencies.blindIndex('a name')
  const before = await withKey(first, nameOf)
  await withKey(`${second},${first}`, async (runtime) => {
    const stale = (await new Sealed(runtime).uses()).filter(({ kind }) => kind === 'index key')
    t.equal(stale.length, 1)
    for (const { reseal } of stale) await reseal()
  })
  t.equal(await withKey(second, nameOf), before)
})
