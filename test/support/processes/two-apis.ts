import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { readConfiguration } from '../../../infra/configuration.ts'
import { deciders, policies } from '../../../packages/domain/index.ts'
import { openRuntime, type Runtime } from '../../../services/composition/dependencies.ts'
import type { Credentials } from '../../../services/composition/credentials.ts'
import { processes } from '../../../services/families.ts'
import { startProcesses } from '../../../services/processes/runner/main.ts'
import { startTimers } from '../../../services/processes/runner/timers.ts'
import { runProjector } from '../../../services/projector/service.ts'
import { temporaryDirectory, testDatabase } from '../postgres.ts'
import { ServiceApart, type ServiceName } from './service-apart.ts'
import { clientOf, type MerchantClient } from '../service.ts'

export interface TwoApis {
  /** What follows from requests happens in the test's own process. */
  readonly runtime: Runtime
  readonly credentials: Credentials
  readonly apis: [ServiceApart, ServiceApart]
  readonly ports: readonly [number, number]
  readonly clients: readonly [MerchantClient, MerchantClient]
  start(name: ServiceName, port?: number): ServiceApart
}

/** Two processes that answer requests, on one database. `places`: engines besides. */
export async function startTwoApis(
  t: Test,
  runtimeAheadMs = 0,
  places: Readonly<Record<string, string>> = {},
): Promise<TwoApis> {
  const { url } = await testDatabase(t)
  const dataDirectory = temporaryDirectory(t)
  // A client of this service knows the issuer of its tokens, not which process signs them.
  const settings = {
    ...{ POSTGRES_URL: url, DATA_DIR: dataDirectory, BASE_URL: 'https://pay.example' },
    ...{ RATE_LIMIT: 'off', LOG_LEVEL: 'error', ...places },
  }
  const start = (name: ServiceName, port = 0) =>
    new ServiceApart(t, name, { ...settings, PORT: String(port) })
  await start('setup').ended
  const credentials = JSON.parse(readFileSync(join(dataDirectory, 'credentials.json'), 'utf8')) as Credentials
  const runtime = await openRuntime(readConfiguration(settings), {
    clock: () => new Date(Date.now() + runtimeAheadMs),
  })
  await follow(t, runtime)
  const apis: [ServiceApart, ServiceApart] = [start('api'), start('api')]
  const ports = [await apis[0].port(), await apis[1].port()] as const
  const clients = [
    clientOf({ port: ports[0], credentials }),
    clientOf({ port: ports[1], credentials }),
  ] as const
  return { runtime, credentials, apis, ports, clients, start }
}

async function follow(t: Test, runtime: Runtime): Promise<void> {
  const { dependencies, postgres } = runtime
  const { pool } = postgres
  const projecting = runProjector(runtime)
  const following = await startProcesses({ dependencies, pool, deciders, policies, processes })
  const timing = startTimers({ dependencies, pool, processes, instance: 'test' })
  t.teardown(async () => {
    await Promise.all([following.close(), timing.close(), projecting.close()])
    await runtime.close()
  })
}
