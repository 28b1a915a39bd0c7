import type { Configuration } from '../../infra/configuration.ts'
import { firstMerchant } from '../composition/first-merchant.ts'
import { openRuntime } from '../composition/dependencies.ts'
import { orClose } from '../composition/closing.ts'
import { run } from '../composition/serve.ts'

/** Before the services start for the first time: tables, the master key, the first merchant and its keys. */
await run(async (configuration, ending) => {
  await setUp(configuration, ending).catch((error: unknown) => {
    // Whoever waits for it to end well would start too early.
    throw error === ending.reason ? new Error('told to end before all was set up') : error
  })
  process.stdout.write(
    `set up; the first merchant's keys are in ${configuration.dataDirectory}/credentials.json\n`,
  )
  process.exit(0)
})

async function setUp(configuration: Configuration, ending: AbortSignal): Promise<void> {
  const runtime = await openRuntime(configuration, { ending })
  await orClose(runtime, () => firstMerchant(runtime, configuration.dataDirectory, ending))
  await runtime.close()
}
