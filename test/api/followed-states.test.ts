import { randomUUID } from 'node:crypto'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { Executor } from '../../packages/kernel/execute.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { FollowedStates } from '../../services/api/http/followed-states.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

t.test('what was answered is known while the next change of its stream is being written', async (t) => {
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
  const states = new FollowedStates({ store: held.store, executor, head: 0, categories: [merchant.category] })
  t.teardown(() => states.close())

  const [id, user, owner] = [randomUUID(), randomUUID(), randomUUID()]
  const envelope = { merchant: id, livemode: false, actor: 'test', correlation: id }
  const details = { name: 'Shop', country: 'SN', currency: 'XOF', email: 'shop@example.com' } as never
  const create = { type: 'CreateMerchant', data: Object.assign({ owner }, details) } as const
  await executor.send(merchant, id, create, envelope)
  await executor.send(merchant, id, { type: 'AddMember', data: { user, role: 'admin' } }, envelope)
  t.match(await states.of(merchant, id), { members: { [user]: 'admin' } })

  await executor.send(merchant, id, { type: 'RemoveMember', data: { user } }, envelope)
  const release = held.hold()
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
