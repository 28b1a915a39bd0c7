import { run, warnOfOddities } from '../composition/serve.ts'
import { startService } from './start.ts'

await run(async (configuration) => {
  warnOfOddities(configuration, { isApart: false })
  const service = await startService(configuration)
  greet(service.port, service.credentials.sandbox_key, configuration.dataDirectory)
  return () => service.close()
})

function greet(port: number, key: string, dataDirectory: string): void {
  const base = `http://localhost:${port}`
  process.stdout.write(`
  ikw-payments   ${base}
  docs           ${base}/docs
  sandbox key    ${key}   (all keys: ${dataDirectory}/credentials.json)

  curl ${base}/api/v1/balance -H 'Authorization: Bearer ${key}'

`)
}
