import { run, warnOfMissingRails, warnOfLimitations } from '../composition/serve.ts'
import { startService, type RunningService } from './start.ts'

await run(async (configuration, ending) => {
  warnOfLimitations(configuration, { isApart: false })
  const service = await startService(configuration, { ending })
  warnOfMissingRails(service.runtime)
  greet(service, configuration.dataDirectory)
  return () => service.close()
})

function greet({ port, healthPort, credentials }: RunningService, dataDirectory: string): void {
  const key = credentials.sandbox_key
  const base = `http://localhost:${port}`
  process.stdout.write(`
  ikw-payments   ${base}
  docs           ${base}/docs
  health         http://localhost:${healthPort}/readyz   (and /metrics)
  sandbox key    ${key}   (all keys: ${dataDirectory}/credentials.json)

  curl ${base}/api/v1/balance -H 'Authorization: Bearer ${key}'

`)
}
