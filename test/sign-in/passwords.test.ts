import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import workerThreads from 'node:worker_threads'
import t from 'tap'
import { passwords } from '../../infra/secrets/passwords.ts'
import { PasswordsBusyError, type Passwords } from '../../packages/kernel/ports/credentials.ts'
import { lawOver } from '../support/law.ts'

const right = 'quatre mots sans lien'

/** The ids of this process's threads, as Linux tells them: by their text, so 10000 comes before 9999. */
const threads = () => readdirSync('/proc/self/task').map(Number)

t.test('a password is told from others, and nobody has the one of an unknown address', async (t) => {
  const { hash, isRight } = passwords()
  const known = await hash(right, [])
  t.match(known, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.equal(await isRight(right, known, []), true)
  t.equal(await isRight(`${right} `, known, []), false)
  t.equal(await isRight(right, null, []), false)
})

t.test('a password is the same however a device writes its accents', async (t) => {
  const { hash, isRight } = passwords()
  const [composed, apart] = ['NFC', 'NFD'].map((form) => 'été à Bouaké'.normalize(form)) as [string, string]
  t.not(composed, apart)
  t.equal(await isRight(apart, await hash(composed, []), []), true)
  t.equal(await isRight(composed, await hash(apart, []), []), true)
  t.equal(await isRight('ete a Bouake', await hash(composed, []), []), false)
})

t.test('they are hashed after everything else', { skip: process.platform !== 'linux' }, async (t) => {
  await passwords({ atOnce: 1 }).hash(right, [])
  const others = threads().filter((id) => id !== process.pid)
  t.ok(others.map((id) => getPriority(id)).includes(getPriority() + 10))
})

t.test(
  'one processor is left free while others are served',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const hashed = async ({ hash }: Passwords) => {
      const before = threads().length
      await Promise.all(Array.from({ length: 6 }, () => hash(right, [])))
      return threads().length - before
    }
    const now = () => 0
    t.equal(await hashed(passwords({ atOnce: 3, now })), 3)
    const shared = passwords({ atOnce: 3, now })
    shared.shareProcessors()
    t.equal(await hashed(shared), 2)
    const only = passwords({ atOnce: 1, now })
    only.shareProcessors()
    t.equal(await hashed(only), 1)
  },
)

t.test('a place that was kept is there however many come in between', async (t) => {
  const { hash, reserve } = passwords({ atOnce: 1, waitingMax: 3 })
  const known = await hash(right, [])
  const place = reserve([])
  const asked = await Promise.allSettled(Array.from({ length: 10 }, () => hash(right, [])))
  const refused = asked.filter(({ status }) => status === 'rejected')
  t.equal(refused.length, 7, 'one place fewer')
  const [kept] = await Promise.all([
    place.isRight(right, known),
    hash(right, []),
    hash(right, []),
    hash(right, []),
  ])
  t.equal(kept, true)
  place.release()
  const places = Array.from({ length: 4 }, () => reserve([]))
  t.throws(() => reserve([]), PasswordsBusyError)
  await lawOver(t, places, (one) => one.release())
  t.doesNotThrow(() => reserve([]).release())
})

t.test('nobody fills the queue alone, and who asks for little is always taken', async (t) => {
  const { hash, requireRoom } = passwords({ atOnce: 1, waitingMax: 9 })
  const asking = { one: ['account one', 'network a'], other: ['account other', 'network a'] }
  const flood = (names: readonly string[]) => Array.from({ length: 10 }, () => hash(right, names))
  const asked = Promise.allSettled([...flood(asking.one), ...flood(asking.other)])
  t.throws(() => requireRoom(asking.one), PasswordsBusyError)
  const others = ['c', 'd', 'e'].map((network) => hash(right, [`network ${network}`]))
  t.equal((await Promise.all(others)).length, 3)
  const taken = (await asked).filter(({ status }) => status === 'fulfilled')
  t.equal(taken.length, 5, 'half of all places')
  t.doesNotThrow(() => requireRoom(asking.one))
})

t.test('more than may wait are refused at once, and the next ones are taken again', async (t) => {
  const { hash, requireRoom } = passwords({ atOnce: 1, waitingMax: 3 })
  await hash(right, [])
  const asked = await Promise.allSettled(Array.from({ length: 10 }, () => hash(right, [])))
  const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  t.equal(refused.length, 6)
  t.ok(refused.every((error) => error instanceof PasswordsBusyError))
  t.doesNotThrow(() => requireRoom([]))
  t.match(await hash(right, []), /^\$argon2id/)
})

const { Worker } = workerThreads
type Start = () => InstanceType<typeof Worker>

/** How threads fail to start: for want of files, of processes, and without a word. */
const failures: Readonly<Record<string, Start>> = {
  'says so later': () => new Worker(new URL('data:text/javascript,throw new Error("no more files")')),
  'says so at once': () => {
    throw new Error('no more processes')
  },
  'says nothing': () => new Worker(new URL('data:text/javascript,process.exit()')),
}

t.test('a thread that cannot start fails its own work, and the next one is started', async (t) => {
  t.teardown(() => (workerThreads.Worker = Worker))
  await lawOver(t, Object.entries(failures), async ([how, start]) => {
    const { hash } = passwords({ atOnce: 2 })
    let started = 0
    const second = function (...given: ConstructorParameters<typeof Worker>) {
      return ++started === 2 ? start() : new Worker(...given)
    }
    workerThreads.Worker = second as unknown as typeof Worker
    const asked = await Promise.allSettled(Array.from({ length: 6 }, () => hash(right, [])))
    t.equal(asked.filter(({ status }) => status === 'rejected').length, 1, how)
    workerThreads.Worker = start as unknown as typeof Worker
    const other = passwords({ atOnce: 2 })
    const none = await Promise.allSettled(Array.from({ length: 6 }, () => other.hash(right, [])))
    t.ok(
      none.every(({ status }) => status === 'rejected'),
      how,
    )
    workerThreads.Worker = Worker
    t.match(await other.hash(right, []), /^\$argon2id/, how)
  })
})
