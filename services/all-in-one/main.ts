import { readConfiguration } from '../../infra/configuration.ts'
import { startService } from './start.ts'

try {
  const configuration = readConfiguration()
  const service = await startService(configuration)
  greet(service.port, service.credentials.sandbox_key, configuration.dataDirectory)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(service))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
}

async function stop(service: { close(): Promise<void> }): Promise<void> {
  await service.close()
  process.exit(0)
}

function greet(port: number, key: string, dataDirectory: string): void {
  const base = `http://localhost:${port}`
  process.stdout.write(`
  ikw-payments   ${base}
  docs           ${base}/docs
  sandbox key    ${key}   (all keys: ${dataDirectory}/credentials.json)

  curl ${base}/api/v1/balance -H 'Authorization: Bearer ${key}'

`)
}
