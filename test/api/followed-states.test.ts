import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { Executor } from '../../packages/kernel/execution/execute.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { FollowedStates } from '../../services/api/http/credentials/followed-states.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

/** The executor of a process that hears of no other, and its store. */
async function deaf(t: Test) {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { POSTGRES_URL, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent' }
  const { dependencies, snapshots, close } = await openRuntime(readConfiguration(settings))
  t.teardown(close)
  const { newId, log, clock } = dependencies
  const held = heldUp(dependencies.store)
  const executor = new Executor({
    store: held.store,
    snapshots,
    clock,
    newId,
    log,
    newSalt: () => 'AAAAAAAAAAAAAAAAAAAAAA',
    pause: async () => undefined,
    refuse: { notFound: Error, changedMeanwhile: Error, otherRevision: Error, overloaded: Error },
  })
  return { ...held, snapshots, executor, elsewhere: dependencies.executor }
}

t.test('what was answered is known while the next change of its stream is being written', async (t) => {
  const { store, executor, hold } = await deaf(t)
  const states = new FollowedStates({ store, executor, head: 0, categories: [merchant.category] })
  t.teardown(() => states.close())

  const [id, user, owner] = [randomUUID(), randomUUID(), randomUUID()]
  const envelope = { merchant: id, livemode: false, actor: 'test', correlation: id }
  const details = { name: 'Shop', country: 'SN', currency: 'XOF', email: 'shop@example.com' } as never
  const create = { type: 'CreateMerchant', data: Object.assign({ owner }, details) } as const
  await executor.send(merchant, id, create, envelope)
  await executor.send(merchant, id, { type: 'AddMember', data: { user, role: 'admin' } }, envelope)
  t.match(await states.of(merchant, id), { members: { [user]: 'admin' } })

  await executor.send(merchant, id, { type: 'RemoveMember', data: { user } }, envelope)
  const release = hold()
  const suspended = executor.send(
    merchant,
    id,
    { type: 'SuspendMerchant', data: { reason: 'Test' } },
    envelope,
  )
  t.strictSame(((await states.of(merchant, id)) as { members: object }).members, { [owner]: 'owner' })
  release()
  await suspended
  t.match(await states.of(merchant, id), { status: 'suspended' })
})

t.test('what was missed is known after a check', async (t) => {
  const { store, executor, elsewhere } = await deaf(t)
  const states = new FollowedStates({ store, executor, head: 0, categories: [userSessions.category] })
  t.teardown(() => states.close())
  const [user, session] = [randomUUID(), randomUUID()]
  const envelope = { user, actor: 'test', correlation: user }
  await elsewhere.send(
    userSessions,
    user,
    { type: 'StartSession', data: { ...started(session), mayEndOldest: true } },
    envelope,
  )
  t.match(await states.of(userSessions, user), { active: [{ id: session }] })
  const end = { session, reason: 'signed_out' as const }
  await elsewhere.send(userSessions, user, { type: 'EndSession', data: end }, envelope)
  const { changes } = states
  await states.check()
  t.not(states.changes, changes)
  t.match(await states.of(userSessions, user), { active: [] })
})

t.test('somebody who has signed in for years is read as fast as a newcomer', async (t) => {
  const { store, executor, elsewhere, snapshots } = await deaf(t)
  let read = 0
  const { readStream } = store
  const counting: EventStore['readStream'] = async (stream, from, limit) => {
    const events = await readStream(stream, from, limit)
    read += events.length
    return events
  }
  Object.assign(store, { readStream: counting })
  const user = randomUUID()
  const envelope = { user, actor: 'test', correlation: user }
  for (const _ of Array.from({ length: 10 })) {
    const commands = Array.from({ length: 100 }, () => {
      const session = randomUUID()
      const end = { session, reason: 'signed_out' }
      return [
        { type: 'StartSession', data: { ...started(session), mayEndOldest: true } } as const,
        { type: 'EndSession', data: end } as const,
      ]
    })
    const all = commands.flat().map((command) => ({ command, envelope }))
    await elsewhere.sendAll(userSessions, user, all)
  }
  await eventually(
    async () => snapshots.load(`user_session-${user}`, userSessions.snapshot!.version),
    (kept) => (kept?.revision ?? 0) > 1_700,
  )
  const states = new FollowedStates({ store, executor, head: 0, categories: [userSessions.category] })
  t.teardown(() => states.close())
  await states.of(userSessions, user)
  t.ok(read < 300, `${read} events were read`)
  read = 0
  const session = randomUUID()
  await executor.send(
    userSessions,
    user,
    { type: 'StartSession', data: { ...started(session), mayEndOldest: true } },
    envelope,
  )
  read = 0
  t.match(await states.of(userSessions, user), { active: [{ id: session }] })
  t.equal(read, 1, 'then only what is new')
})

function started(session: string) {
  const nowhere = { device: null, address: null, country: null }
  return { session, method: 'password' as const, merchant: null, endings: 0, ...nowhere }
}

/** A store whose appends wait while they are held up, and whose subscribers hear of nothing. */
function heldUp(store: EventStore) {
  let held = Promise.resolve()
  const hold = () => {
    let release = () => {}
    held = new Promise((resolve) => (release = resolve))
    return release
  }
  const append: EventStore['append'] = async (stream, expected, events) => {
    await held
    return store.append(stream, expected, events)
  }
  const subscribe: EventStore['subscribe'] = () => ({ close: async () => undefined })
  return { store: { ...store, append, subscribe }, hold }
}
