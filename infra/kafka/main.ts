import { join } from 'node:path'
import { readConfiguration } from '../configuration.ts'
import { startBroker, stopBroker } from './broker.ts'

/** `make kafka`, `make kafka-stop`: a real broker for this machine. */
const port = 9092

try {
  const { dataDirectory } = readConfiguration()
  const directory = join(dataDirectory, 'kafka')
  if (process.argv[2] === 'stop') await stopBroker(directory)
  else await start(directory, join(dataDirectory, 'kafka-jars'))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
}

async function start(directory: string, jars: string): Promise<void> {
  const { address, pid, isNew } = await startBroker({ directory, jars, port })
  const state = isNew ? 'is ready' : 'runs already'
  process.stdout.write(
    `Kafka ${state}: KAFKA_BROKERS=${address} (process ${pid}, data and log in ${directory})\n`,
  )
  process.stdout.write('make kafka-stop stops it\n')
}
