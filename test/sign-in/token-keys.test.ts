import t from 'tap'
import { openTokens } from '../../services/composition/tokens.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { startService, type TestService } from '../support/service.ts'

const claims = { subject: '0190a1b2-0000-7000-8000-000000000001', id: 'session' }
const soon = () => new Date(Date.now() + 60_000)
const times = [1, 2, 3, 4]

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** A process that has not read the keys yet. */
function another(store: EventStore) {
  return openTokens({ ...service.service.runtime.dependencies, store })
}

t.test('a process that meets a key for the first time takes all who come with it at once', async (t) => {
  const { tokens, store } = service.service.runtime.dependencies
  const token = await tokens.sign('access', claims, soon())
  const other = another(store)
  const opened = await Promise.all(times.map(() => other.open('access', token)))
  t.strictSame(
    opened.map((one) => one?.claims),
    times.map(() => claims),
  )
})

t.test('while keys cannot be read no token is called wrong', async (t) => {
  const { tokens, store } = service.service.runtime.dependencies
  const token = await tokens.sign('access', claims, soon())
  let isAway = true
  const away = new Proxy(store, {
    get: (known, name) => {
      if (isAway && name === 'readStream') return () => Promise.reject(new Error('the store is away'))
      const value: unknown = Reflect.get(known, name)
      return typeof value === 'function' ? (value.bind(known) as unknown) : value
    },
  })
  const other = another(away)
  for (const _ of times) await t.rejects(other.open('access', token), /away/)
  isAway = false
  t.match(await other.open('access', token), { claims })
})
