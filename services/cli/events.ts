import type { Command } from 'commander'
import { digestOf } from '../../infra/history/digest.ts'
import { historyOf } from '../../infra/history/store-pages.ts'
import { positionOfPublicEvent } from '../../infra/postgres/webhooks/public-events.ts'
import { identity, publicId } from '../../packages/contract/identity.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { deciders, idPrefixes } from '../../packages/domain/index.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { categoryOf, streamName, type AnyDecider } from '../../packages/kernel/decider.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { equal } from '../../packages/kernel/ports/reads.ts'
import { balanceTransactions } from '../../projections/balances.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { commandOf } from './terminal/arguments.ts'
import { addCopy } from './stores/events-copy.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { digestText } from './stores/history-report.ts'
import { withRuntime } from './dependencies.ts'
import { print, progress, type Printing } from './terminal/output.ts'

/** Objects with a public id that are a stream each. A payment is its intent. */
const streams: Readonly<Record<string, AnyDecider>> = Object.fromEntries(
  Object.entries(idPrefixes).flatMap(([kind, prefix]) => {
    const category = kind === 'payment' ? paymentIntent.category : kind
    const decider = deciders.find((each) => each.category === category)
    return decider ? [[prefix, decider]] : []
  }),
)

export function addEvents(program: Command): void {
  const events = program.command('events').description('the log of events')
  commandOf(
    events,
    'show <stream>',
    'all events of a stream: payout-<uuid>, ledger-<book>, or what po_…, evt_… and txn_… stand for',
  ).action(show)
  commandOf(
    events,
    'digest',
    'what tells one log from another: counts, and a hash over all events in order',
  ).action(digest)
  addCopy(events)
}

async function digest(options: Printing): Promise<void> {
  const bar = progress('reading')
  const found = await withRuntime(async ({ asStored: store }) => {
    const head = await store.head()
    return digestOf(historyOf(store), head, (position) => bar.show(position, head))
  })
  bar.end()
  print(found, options, () => digestText(found))
}

async function show(name: string, options: Printing): Promise<void> {
  const { stream, stored } = await withRuntime((runtime) => eventsOf(runtime, name))
  if (stored.length === 0) throw new CommandFailedError(`There is no stream ${stream}.`)
  const events = stored.map(({ id, revision, position, type, data, metadata }) => {
    return { revision, position, time: metadata.at, type, actor: metadata.actor, id, data, metadata }
  })
  print({ stream, events }, options, () => stored.map(paragraph).join('\n\n'))
}

interface Found {
  readonly stream: string
  readonly stored: readonly StoredEvent[]
}

/** Webhook events and balance transactions have ids too: each stands for one event. */
async function eventsOf(runtime: Runtime, name: string): Promise<Found> {
  const { store } = runtime.dependencies
  const [, kind] = /^(txn|evt)_/i.exec(name) ?? []
  const id = kind && identity(name, kind.toLowerCase())
  if (!id) {
    const stream = streamOf(name)
    return { stream, stored: await store.readStream(stream, 0) }
  }
  const position = await positionOf(runtime, kind.toLowerCase(), id)
  const event = position === undefined ? undefined : await store.readAt(position)
  if (!event) throw new CommandFailedError(`There is no ${name}.`)
  // A journal entry is one of many in its book; of anything else the whole history is of interest.
  const isEntry = categoryOf(event.stream) === book.category
  return { stream: event.stream, stored: isEntry ? [event] : await store.readStream(event.stream, 0) }
}

/** The event behind a balance transaction or webhook event. */
async function positionOf(
  { postgres, dependencies }: Runtime,
  kind: string,
  id: string,
): Promise<number | undefined> {
  if (kind === 'evt') return positionOfPublicEvent(postgres.pool, publicId('evt', id))
  const { rows } = await dependencies.reads.page<{ position: number }>({
    from: balanceTransactions.name,
    where: equal({ id }),
    order: 'id',
    limit: 1,
  })
  return rows[0]?.position
}

function streamOf(name: string): string {
  const prefixes = Object.keys(streams)
  const prefix = prefixes.find((each) => name.toLowerCase().startsWith(`${each}_`))
  const id = prefix && identity(name, prefix)
  if (id) return streamName(streams[prefix]!.category, id)
  const category = categoryOf(name)
  if (deciders.some((decider) => decider.category === category)) return name
  const known = [...prefixes.map((each) => `${each}_…`), `${book.category}-<book>`, '<category>-<uuid>']
  throw new CommandFailedError(
    `"${name}" names no stream: it takes ${known.join(', ')}, with one of the categories ${categories()}.`,
  )
}

function categories(): string {
  return deciders.map(({ category }) => category).join(', ')
}

function paragraph({ revision, position, type, data, metadata }: StoredEvent): string {
  const { at, actor, causation } = metadata
  const cause = causation ? `, after position ${causation.position}` : ''
  const head = `${revision}  ${type}  ${at}  by ${actor}  (position ${position}${cause})`
  return `${head}\n${indented(JSON.stringify(data, undefined, 2))}`
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '   ')
}
