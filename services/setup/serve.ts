import { firstMerchant } from '../composition/first-merchant.ts'
import { openRuntime } from '../composition/dependencies.ts'
import { orClose } from '../composition/closing.ts'
import { run } from '../composition/serve.ts'

/** Before the services start for the first time: tables, the master key, the first merchant and its keys. */
await run(async (configuration) => {
  const runtime = await openRuntime(configuration)
  await orClose(runtime, () => firstMerchant(runtime, configuration.dataDirectory))
  await runtime.close()
  process.stdout.write(
    `set up; the first merchant's keys are in ${configuration.dataDirectory}/credentials.json\n`,
  )
  process.exit(0)
})
