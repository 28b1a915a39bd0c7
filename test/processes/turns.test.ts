import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Turns, type GiveWay } from '../../infra/event-loop/turns.ts'
import { policy } from '../../packages/kernel/policy.ts'
import { forEach } from '../../services/processes/runner/for-each.ts'
import { PolicyRunner } from '../../services/processes/runner/policies.ts'
import { diary, type NoteEvents } from '../support/load/diary.ts'
import { lawOver } from '../support/law.ts'
import { eventually } from '../support/eventually.ts'
import { openLog } from '../support/event-store/shared-log.ts'

/** Longer than any turn. */
const pieceMs = 10
const pieces = [1, 2, 3, 4, 5, 6]

function busy(): void {
  for (const until = performance.now() + pieceMs; performance.now() < until;);
}

/** Notes a request whenever the event loop looks for some, until the work is done. */
async function withRequests(seen: string[], work: () => Promise<void>): Promise<void> {
  const end = new AbortController()
  const requests = async () => {
    while (!end.signal.aborted) {
      seen.push('request')
      await nextTurn()
    }
  }
  await Promise.all([requests(), work().finally(() => end.abort())])
}

function setClock(t: Test, clock: () => number): void {
  const { now } = performance
  performance.now = clock
  t.teardown(() => (performance.now = now))
}

function work(seen: string[], name: string, giveWay: GiveWay) {
  return async () => {
    await giveWay()
    seen.push(name)
    busy()
  }
}

/** How many pieces were done behind another one, with nobody looking for requests in between. */
function ofOneTurn(seen: readonly string[]): number {
  return seen.filter((what, index) => what !== 'request' && seen[index - 1] === what).length
}

t.test('between two turns of a long work there is time for requests', async (t) => {
  const seen: string[] = []
  const piece = work(seen, 'piece', new Turns().lane())
  const one = async () => {
    for (const _ of pieces) await piece()
  }
  await withRequests(seen, one)
  t.equal(seen.filter((what) => what === 'piece').length, pieces.length)
  t.equal(ofOneTurn(seen), 0)
})

t.test('and also where many pieces of it wait at once', async (t) => {
  const seen: string[] = []
  const piece = work(seen, 'piece', new Turns().lane())
  await withRequests(seen, () => forEach(pieces, pieces.length, piece))
  t.equal(seen.filter((what) => what === 'piece').length, pieces.length)
  t.equal(ofOneTurn(seen), 0)
})

t.test('who has one piece does not wait for all of who has many', async (t) => {
  const seen: string[] = []
  const turns = new Turns()
  const [many, one] = [work(seen, 'many', turns.lane()), work(seen, 'one', turns.lane())]
  await Promise.all([forEach(pieces, pieces.length, many), one()])
  t.ok(seen.indexOf('one') <= 2, seen.join())
  t.equal(seen.length, pieces.length + 1)
})

t.test('a turn is not lost because the system takes the processor away', async (t) => {
  const seen: string[] = []
  const turns = new Turns()
  const now = performance.now.bind(performance)
  let looks = 0
  // Between two looks at the clock more time passes than a turn has.
  setClock(t, () => now() + 5 * ++looks)
  const [many, one] = [work(seen, 'many', turns.lane()), work(seen, 'one', turns.lane())]
  await Promise.all([forEach(pieces, pieces.length, many), one()])
  t.strictSame(seen, ['many', 'one', ...pieces.slice(1).map(() => 'many')])
})

/** How many pieces of a quarter of a millisecond each turn has while others take so long in between. */
async function piecesOfTurns(t: Test, { lanes, waiting, othersMs }: Record<string, number>) {
  const turns = new Turns()
  const times = { now: performance.now() }
  setClock(t, () => times.now)
  const counts: number[] = []
  const end = new AbortController()
  const worker = async (giveWay: GiveWay) => {
    while (!end.signal.aborted) {
      await giveWay()
      times.now += 0.25
      counts.push(counts.pop()! + 1)
    }
  }
  counts.push(0)
  const each = Array.from({ length: lanes! }, () => turns.lane())
  const workers = each.flatMap((lane) => Array.from({ length: waiting! }, () => worker(lane)))
  for (let turn = 0; turn < 20; turn++) {
    await nextTurn()
    times.now += othersMs!
    counts.push(0)
  }
  end.abort()
  await Promise.all(workers)
  // The first ones are beginnings, and the last one is cut off.
  return new Set(counts.slice(5, 18))
}

t.test('a turn lasts a quarter of what others had the event loop, however many wait', async (t) => {
  const crowds = [
    { lanes: 1, waiting: 1 },
    { lanes: 1, waiting: 8 },
    { lanes: 2, waiting: 1 },
    { lanes: 3, waiting: 8 },
  ]
  await lawOver(t, crowds, async (crowd) => {
    const pieces = async (othersMs: number) => piecesOfTurns(t, { ...crowd, othersMs })
    t.same(await pieces(2), new Set([4]), 'a millisecond at least')
    t.same(await pieces(12), new Set([12]))
    t.same(await pieces(50), new Set([16]), 'four at most')
  })
})

async function everyPiece(giveWay: GiveWay): Promise<void> {
  for (const _ of pieces) await giveWay()
}

/** Whether all of them were done in one turn. The system may take the processor away from a try. */
async function shareTurn(): Promise<boolean> {
  const giveWay = new Turns().lane()
  let turned = false
  setImmediate(() => (turned = true))
  await everyPiece(giveWay)
  return !turned && giveWay() === undefined
}

t.test('short pieces share a turn', async (t) => {
  t.ok(await eventually(shareTurn, (isShared) => isShared))
})

t.test('a turn in which all that waited again was done leaves nobody to wait for', async (t) => {
  const giveWay = new Turns().lane()
  const now = performance.now()
  // All of it is in time.
  setClock(t, () => now)
  await Promise.all([1, 2, 3].map(() => everyPiece(giveWay)))
  await nextTurn()
  t.equal(giveWay(), undefined)
})

t.test('a failed piece takes nobody’s turn', async (t) => {
  const giveWay = new Turns().lane()
  const piece = async (number: number) => {
    await giveWay()
    busy()
    if (number === 2) throw new Error('poison')
  }
  await t.rejects(forEach(pieces, 2, piece), { message: 'poison' })
  await giveWay()
})

t.test('policies of one batch give way to requests', async (t) => {
  const { log, process } = openLog()
  const executor = process()
  const envelope = {
    merchant: '0190a1b2-0000-7000-8000-00000000000a',
    livemode: false,
    actor: 'key:a',
    correlation: 'a test',
  }
  for (const number of pieces)
    await executor.send(diary, `diary ${number}`, { type: 'TakeNote', data: { number } }, envelope)
  const seen: string[] = []
  const slow = policy<NoteEvents>('slow', {
    NoteTaken: () => {
      seen.push('piece')
      busy()
      return []
    },
  })
  const runner = new PolicyRunner({
    policies: [slow],
    deciders: new Map([[diary.category, diary]]),
    executor,
    parked: {
      has: () => false,
      holds: async () => false,
      parkBehind: async () => false,
      park: async () => void t.fail('parked'),
    },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    giveWay: new Turns().lane(),
  })
  await withRequests(seen, () => runner.handle(log.behind(0, pieces.length)))
  t.equal(seen.filter((what) => what === 'piece').length, pieces.length)
  t.equal(ofOneTurn(seen), 0)
})
