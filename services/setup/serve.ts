import { firstMerchant } from '../composition/first-merchant.ts'
import { openHouse } from '../composition/dependencies.ts'
import { run } from '../composition/serve.ts'

/** Before the services start for the first time: tables, the master key, the first merchant and its keys. */
await run(async (configuration) => {
  const opened = await openHouse(configuration)
  await firstMerchant(opened.house, configuration.dataDirectory)
  await opened.close()
  process.stdout.write(
    `set up; the first merchant's keys are in ${configuration.dataDirectory}/credentials.json\n`,
  )
  process.exit(0)
})
