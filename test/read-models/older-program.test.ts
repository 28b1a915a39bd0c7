import t from 'tap'
import {
  publishMissing,
  publications,
  requestNewGeneration,
} from '../../infra/postgres/read-models/publication.ts'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { deciders } from '../../packages/domain/index.ts'
import type { ReadModel } from '../../packages/kernel/projection.ts'
import { webhookEndpoints, webhookReplays } from '../../projections/webhook-endpoints.ts'
import { startProjector } from '../../services/projector/main.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

const log = { info: () => undefined, warn: () => undefined, error: () => undefined }

t.test("a program that is older leaves a newer one's table alone, and keeps the others going", async (t) => {
  const { url, pool } = await testDatabase(t)
  const store = await openEmbeddedStore({ url })
  t.teardown(() => store.close())
  const models: readonly ReadModel[] = [webhookEndpoints, webhookReplays]
  const newer = [{ ...webhookEndpoints, version: webhookEndpoints.version + 1 }, webhookReplays]
  await publishMissing(pool, models, '')
  const project = (some: readonly ReadModel[]) =>
    startProjector({ pool, store, models: some, deciders, dependents: '', log })
  const shown = async (name: string) => (await publications(pool)).get(name)
  const first = await project(newer)
  await eventually(
    () => shown(webhookEndpoints.name),
    (published) => published?.version === webhookEndpoints.version + 1,
  )
  await first.close()
  const before = await shown(webhookEndpoints.name)
  const older = await project(models)
  t.teardown(() => older.close())
  await requestNewGeneration(pool, webhookReplays)
  await eventually(
    () => shown(webhookReplays.name),
    (published) => published?.generation === 2,
  )
  t.same(await shown(webhookEndpoints.name), before)
})
