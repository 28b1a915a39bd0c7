import { numbered } from './leaders.ts'
import { isDeepStrictEqual } from 'node:util'
import { Projector } from '../../infra/postgres/read-models/projector.ts'
import type { CreatedIntent, PaymentIntent } from '../../packages/domain/payment-intents/state.ts'
import { isLateRefunded } from '../../packages/domain/payment-intents/late-refunds.ts'
import { lateRefundIdOf } from '../../packages/domain/payment-intents/state.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import type { PayoutEvents } from '../../packages/domain/payouts/events.ts'
import type { Payout } from '../../packages/domain/payouts/payout.ts'
import type { CheckoutSession } from '../../packages/domain/checkout/checkout-session.ts'
import type { PaymentLink } from '../../packages/domain/payment-links/payment-link.ts'
import type { Refund } from '../../packages/domain/refunds/refund.ts'
import { parseStreamName } from '../../packages/kernel/decider.ts'
import { foldStored } from '../../packages/kernel/history.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import type { EventMetadata } from '../../packages/kernel/ports.ts'
import { readModels } from '../../projections/index.ts'
import { deciders, publicSources } from '../../packages/domain/index.ts'
import { Renderer } from '../../services/relay/render.ts'
import { simulatedSnapshots } from './dependencies.ts'
import { SimulatedDatabase } from './engines/database.ts'
import { simulatedPool } from './engines/pool.ts'
import { balance, type ShadowBook } from './laws/ledger-laws.ts'
import { nobody } from './scheduler.ts'
import { SimulatedStore } from './engines/store.ts'
import type { World } from './world.ts'

const statesMax = 100
const quietLog = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** What must be true when nothing is under way any more. */
export async function checkAtRest(world: World): Promise<void> {
  checkEnds(world)
  checkHolds(world)
  checkFloats(world)
  await checkReadModels(world)
  await checkDeliveries(world)
}

type Check = (world: World, id: string, state: never) => string | undefined

const ends: Readonly<Record<string, Check>> = {
  payout: unfinishedPayout,
  payment_intent: unfinishedIntent,
  refund: unfinishedRefund,
  checkout_session: unfinishedSession,
  payment_link: miscountedLink,
}

/** R2: everything has ended, or is shown as waiting for an operator that says nothing. */
function checkEnds(world: World): void {
  for (const [stream, events] of world.log.streams) {
    const { category, id } = parseStreamName(stream)
    const check = ends[category]
    if (!check) continue
    const decider = deciders.find((each) => each.category === category)!
    const fault = check(world, id, foldStored(decider, events) as never)
    if (fault) world.stage.violate('R2', `at rest, ${stream} ${fault}`)
  }
}

function unfinishedPayout({ rail }: World, id: string, state: Payout): string | undefined {
  if (state.status !== 'pending' && state.status !== 'in_transit') return undefined
  if (state.status === 'pending') return 'was never sent'
  const known = rail.operations.get(id)
  if (known && known.answers && known.state.state !== 'pending')
    return `has not heard that it ${known.state.state}`
  return state.delay ? undefined : 'waits and is not shown as delayed'
}

function unfinishedIntent({ rail, streams }: World, _: string, state: PaymentIntent): string | undefined {
  if (state.status === 'none') return undefined
  if (state.status === 'requires_payment_method') return state.locked ? 'is locked for ever' : undefined
  if (state.status === 'processing' || state.status === 'requires_action') return `is ${state.status}`
  const shares = state.status === 'succeeded' ? Object.entries(state.payment.refunds) : []
  for (const [refund, { done }] of shares) {
    const isDone = streams.statuses.get(`refund-${refund}`) === 'succeeded'
    if (!done || !isDone) return `sets a part aside for refund ${refund}`
  }
  return state.late
    .map((operation) => keptLate(rail.operations, state, operation))
    .find((fault) => fault !== undefined)
}

type Operations = World['rail']['operations']

/** What was paid late is given back, unless the operator keeps it: then people know. */
function keptLate(operations: Operations, intent: CreatedIntent, operation: string): string | undefined {
  if (isLateRefunded(intent, operation)) return undefined
  const refund = operations.get(lateRefundIdOf(operation))
  return refund?.state.state === 'failed' ? undefined : `keeps what operation ${operation} paid late`
}

function unfinishedRefund(_: World, __: string, { status }: Refund): string | undefined {
  return status === 'pending' ? 'is pending' : undefined
}

/** C2: it has ended, and was completed by what has paid it. */
function unfinishedSession({ checkout }: World, id: string, state: CheckoutSession): string | undefined {
  if (state.status === 'none') return undefined
  if (state.status === 'open') return 'is open'
  const times = checkout.paid(id)
  return (state.paidBy !== null) === (times === 1) ? undefined : `is ${state.status} and paid ${times} times`
}

function miscountedLink({ checkout }: World, id: string, state: PaymentLink): string | undefined {
  if (state.status === 'none' || state.uses === checkout.paid(id)) return undefined
  return `counts ${state.uses} uses and was paid ${checkout.paid(id)} times`
}

/** L3 and L7: what is still held is held for what still waits, and nothing lies about. */
function checkHolds(world: World): void {
  for (const [id, book] of world.ledger.books) {
    for (const holdId of book.holds.keys()) {
      const status =
        world.streams.statuses.get(`payout-${holdId}`) ?? world.streams.statuses.get(`refund-${holdId}`)
      const isOpen = status === 'in_transit'
      if (!isOpen)
        world.stage.violate('L4', `at rest, ${id} holds money for ${holdId}, which is ${status ?? 'nothing'}`)
    }
    for (const [holdId, end] of book.ended) checkEnd(world, holdId, end)
  }
}

const endOf: Readonly<Record<string, 'HoldPosted' | 'HoldVoided'>> = {
  paid: 'HoldPosted',
  returned: 'HoldPosted',
  succeeded: 'HoldPosted',
  failed: 'HoldVoided',
  canceled: 'HoldVoided',
  abandoned: 'HoldVoided',
}

function checkEnd(world: World, holdId: string, end: 'HoldPosted' | 'HoldVoided'): void {
  const { statuses } = world.streams
  const status = statuses.get(`payout-${holdId}`) ?? statuses.get(`refund-${holdId}`) ?? 'none'
  if (endOf[status] !== end)
    world.stage.violate('L4', `at rest, ${holdId} is ${status} and its hold ended by ${end}`)
}

/** The books say that the operators have what the operators have. */
function checkFloats(world: World): void {
  const names = new Set([...world.ledger.books.keys(), ...world.streams.floats.keys()])
  for (const name of names) {
    const book = world.ledger.books.get(name)
    const booked = book ? floatOf(book) : 0
    const real = (world.streams.floats.get(name) ?? 0) - playedMinor(world, name)
    if (booked !== real)
      world.stage.violate(
        'R2',
        `at rest, ${name} has ${booked} at operators by the book, and ${real} by them`,
      )
    const unmatched = book ? balance(book, 'suspense.unmatched') : 0
    const isKept = [...world.notebook.parked.values()].length > 0 || isKeptByOperators(world)
    if (unmatched !== 0 && !isKept) world.stage.violate('L7', `at rest, ${name} has ${unmatched} unmatched`)
  }
}

/** What a merchant of the sandbox said was paid, and no operator was ever told of. */
function playedMinor({ rail, log }: World, name: string): number {
  let total = 0
  for (const [reference, { request, state }] of rail.operations) {
    const [requested] = log.streams.get(`payout-${reference}`) ?? []
    if (request || state.state !== 'succeeded' || !requested) continue
    const { merchant, livemode } = requested.metadata as EventMetadata<MerchantOwner>
    const { money } = requested.data as PayoutEvents['PayoutRequested']
    if (bookId(merchant, livemode, money.currency) === name) total += money.amount
  }
  return total
}

function isKeptByOperators({ rail }: World): boolean {
  return [...rail.operations.values()].some(
    ({ request, state }) => request?.kind === 'refund' && state.state === 'failed',
  )
}

function floatOf({ balances }: ShadowBook): number {
  let total = 0
  for (const [account, amount] of balances) if (account.startsWith('provider:')) total += amount
  return total
}

/** R5: every read model is what a replay of the log would make. */
async function checkReadModels(world: World): Promise<void> {
  const { stage, log } = world
  const database = new SimulatedDatabase()
  stage.scheduler.faults = { ...stage.scheduler.faults, instant: 1 }
  const store = new SimulatedStore(log, stage, nobody)
  const pool = simulatedPool({ stage, database, life: nobody })
  const projector = new Projector({ pool, store, deciders, log: quietLog, statesMax })
  const tracks = await Promise.all(readModels.map((model) => projector.open(model, 1)))
  await projector.apply(tracks, log.events, log.head)
  for (const { name } of readModels) {
    const shown = [...world.database.table(name)].sort(byKey)
    const replayed = [...database.table(name)].sort(byKey)
    if (isDeepStrictEqual(shown, replayed)) continue
    const index = replayed.findIndex((row, place) => !isDeepStrictEqual(row, shown[place]))
    const rows = JSON.stringify([shown[Math.max(index, 0)], replayed[Math.max(index, 0)]])
    stage.violate('R5', `${name} differs from a replay of the log: ${rows}`)
  }
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

/** R5: each public event was delivered, once, and nothing else was. */
async function checkDeliveries({ stage, log, bus }: World): Promise<void> {
  const store = new SimulatedStore(log, stage, nobody)
  const renderer = new Renderer({ sources: publicSources, store, snapshots: simulatedSnapshots(), statesMax })
  const expected = new Map<string, unknown>()
  for (const event of log.events) {
    const rendered = await renderer.render(event)
    if (rendered) expected.set(rendered.id, numbered(rendered))
  }
  for (const [id, event] of expected) {
    if (!isDeepStrictEqual(bus.deliveries.get(id), event))
      stage.violate('R5', `event ${id} was not delivered as it is`)
  }
  if (bus.deliveries.size !== expected.size)
    stage.violate('R5', 'something was delivered that is no public event')
}
