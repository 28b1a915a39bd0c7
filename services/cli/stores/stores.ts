import { InvalidArgumentError } from 'commander'
import type { Configuration } from '../../../infra/configuration.ts'
import { openEmbeddedStore } from '../../../infra/event-store/embedded/store.ts'
import { openEmbeddedTarget } from '../../../infra/event-store/embedded/target.ts'
import type { HistoryTarget } from '../../../infra/history/copy.ts'
import { connectPostgres, type Postgres } from '../../../infra/postgres/client/connect.ts'
import { keptHistory } from '../../../infra/postgres/history/history.ts'
import { migrate } from '../../../infra/postgres/migrate.ts'
import type { EventStore } from '../../../packages/kernel/ports.ts'
import { ownStreams } from '../../composition/own-streams.ts'
import { requireEmbedded } from '../dependencies.ts'

/** A store by its name on the command line: `embedded`, a database, or an EventStoreDB. */
export type StoreName = string

const database = /^(embedded$|postgres(ql)?:\/\/)/
const eventStoreDb = /^esdb(\+discover)?:\/\//

export function storeName(text: string): StoreName {
  if (database.test(text) || eventStoreDb.test(text)) return text
  throw new InvalidArgumentError('It must be embedded, postgres://… or esdb://….')
}

export function databaseName(text: string): StoreName {
  if (database.test(text)) return text
  throw new InvalidArgumentError('It must be embedded or postgres://….')
}

export const isEventStoreDb = (name: StoreName): boolean => eventStoreDb.test(name)

/** The database named by the settings. */
export function databaseOf({ postgresUrl }: Configuration): StoreName {
  return postgresUrl ?? 'embedded'
}

/** What is currently open; each database once. */
export class Stores {
  readonly #dataDirectory: string
  /** Categories of streams on an EventStoreDB. */
  readonly #prefix: string
  readonly #databases = new Map<StoreName, Promise<Postgres>>()
  readonly #closing: (() => Promise<void>)[] = []

  constructor({ dataDirectory, eventStorePrefix }: Configuration) {
    this.#dataDirectory = dataDirectory
    this.#prefix = eventStorePrefix
  }

  /** One that has been used before. */
  async existing(name: StoreName): Promise<Postgres> {
    if (name === 'embedded') requireEmbedded(this.#dataDirectory)
    return this.database(name)
  }

  database(name: StoreName): Promise<Postgres> {
    const known = this.#databases.get(name)
    const opening = known ?? this.#open(name)
    this.#databases.set(name, opening)
    return opening
  }

  /** The log, and the id of its history. */
  async source(
    name: StoreName,
    books: Postgres,
  ): Promise<{ readonly store: EventStore; readonly id: string }> {
    const { id } = await keptHistory(books.pool)
    if (!isEventStoreDb(name)) return { store: this.#closed(await openEmbeddedStore(books)), id }
    const { openEventStoreDb } = await import('../../../infra/event-store/eventstoredb/store.ts')
    const store = this.#closed(await openEventStoreDb({ url: name, prefix: this.#prefix, ...ownStreams }))
    await store.beginHistory(id)
    return { store, id: store.history.id ?? id }
  }

  async target(name: StoreName, books: Postgres): Promise<HistoryTarget> {
    if (!isEventStoreDb(name)) return this.#closed(await openEmbeddedTarget(books.url))
    const { openEventStoreDbTarget } = await import('../../../infra/event-store/eventstoredb/target.ts')
    return this.#closed(await openEventStoreDbTarget({ url: name, prefix: this.#prefix, ...ownStreams }))
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close()
  }

  async #open(name: StoreName): Promise<Postgres> {
    const url = name === 'embedded' ? undefined : name
    const postgres = this.#closed(await connectPostgres({ url, dataDirectory: this.#dataDirectory }))
    await migrate(postgres)
    return postgres
  }

  #closed<Open extends { close(): Promise<void> }>(open: Open): Open {
    this.#closing.push(() => open.close())
    return open
  }
}
