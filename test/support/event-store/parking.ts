import type { Test } from 'tap'
import { readConfiguration } from '../../../infra/configuration.ts'
import { openRuntime, type Runtime } from '../../../services/composition/dependencies.ts'
import { diary, poisoned } from '../load/diary.ts'
import { temporaryDirectory, testDatabase } from '../postgres.ts'

export interface Parts {
  readonly runtime: Runtime
}

export async function openParts(t: Test): Promise<Parts> {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { PORT: '0', DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent', POSTGRES_URL }
  const runtime = await openRuntime(readConfiguration(settings))
  t.teardown(async () => {
    poisoned.clear()
    await runtime.close()
  })
  return { runtime }
}

export async function take({ runtime }: Parts, id: string, numbers: readonly number[]): Promise<void> {
  const { executor } = runtime.dependencies
  const envelope = { merchant: id, livemode: false, actor: 'test', correlation: 'test' }
  for (const number of numbers)
    await executor.sendAll(diary, id, [{ command: { type: 'TakeNote', data: { number } }, envelope }])
}

export async function parkedStreams({ runtime }: Parts): Promise<readonly string[]> {
  const { body } = await runtime.health.answers['/readyz']!()
  const { parked } = JSON.parse(body) as { parked: { consumer: string; stream: string }[] }
  return parked.map(({ consumer, stream }) => `${consumer} | ${stream}`)
}
