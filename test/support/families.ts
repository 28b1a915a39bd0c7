import type { Test } from 'tap'
import type pg from 'pg'
import { readConfiguration } from '../../infra/configuration.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { PostgresReadStore } from '../../infra/postgres/read-models/read-store.ts'
import type { Caller } from '../../packages/contract/access/callers.ts'
import type { AnyRoute, Dependencies } from '../../packages/contract/routes.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import type { Envelope } from '../../packages/kernel/envelope.ts'
import type { Owner } from '../../packages/kernel/owner.ts'
import type { ReadModel } from '../../packages/kernel/projection.ts'
import { HttpRequest } from '../../services/api/http/request.ts'
import { kinds } from '../../services/api/kinds/kinds.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { startProjector } from '../../services/projector/main.ts'
import { temporaryDirectory, testDatabase } from './postgres.ts'

export interface Families {
  readonly dependencies: Dependencies
  readonly pool: pg.Pool
}

/** Families that only a test has, with read models in PostgreSQL; they have no place in the contract. */
export async function openFamilies(
  t: Test,
  { models, deciders }: { readonly models: readonly ReadModel[]; readonly deciders: readonly AnyDecider[] },
): Promise<Families> {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { PORT: '0', DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent', POSTGRES_URL }
  const runtime = await openRuntime(readConfiguration(settings))
  const { pool, reads } = runtime.postgres
  await publishMissing(pool, models, '')
  const { store, log } = runtime.dependencies
  const projector = await startProjector({ pool, store, models, deciders, dependents: '', log })
  t.teardown(async () => {
    await projector.close()
    await runtime.close()
  })
  return {
    dependencies: { ...runtime.dependencies, reads: new PostgresReadStore({ pool, reads }, models) },
    pool,
  }
}

export function envelopeFor<O extends Owner>(owner: O): Envelope<O> {
  return { ...owner, actor: 'test', correlation: 'test' }
}

export interface RowCall {
  readonly dependencies: Dependencies
  readonly owner: Owner
  readonly params?: Readonly<Record<string, string>>
  readonly body?: object
  /** The value of `If-Match`. */
  readonly ifRevision?: number
}

/** What a row answers to somebody who acts for this owner. */
export async function askRow(route: AnyRoute, call: RowCall): Promise<unknown> {
  const { dependencies, owner, params = {}, body, ifRevision } = call
  const request = new HttpRequest({
    dependencies,
    caller: { credential: 'nobody' } as Caller,
    envelope: envelopeFor(owner),
    id: dependencies.newId(),
    path: '',
    params,
    subject: params['id'],
    query: {},
    body,
    minPosition: await dependencies.store.head(),
    lastWritten: 0,
    ifRevision,
    findClient: () => ({ address: null, device: null, country: null, language: null }),
  })
  return kinds[route.kind](route, request)
}
