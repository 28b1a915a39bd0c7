import { spawn } from 'node:child_process'
import { startBroker, type Broker, type BrokerOptions } from '../../../infra/kafka/broker.ts'
import { isRunning } from '../../../infra/os/processes.ts'
import { eventually } from '../eventually.ts'
import { brokerJars } from '../root.ts'

/** A real broker that ends with this process, even when that is killed. */
export async function brokerProcess(options: Omit<BrokerOptions, 'jars'>): Promise<Broker> {
  const started = await startBroker({ ...options, jars: brokerJars })
  endWithUs(started.pid)
  return started
}

/**
 * Kills a broker and waits for the end of its process. While it dies, its port may still accept a connection,
 * and `startBroker` would find it running.
 */
export async function killBroker({ pid }: Pick<Broker, 'pid'>): Promise<void> {
  process.kill(pid, 'SIGKILL')
  await eventually(
    async () => isRunning(pid),
    (isAlive) => !isAlive,
  )
}

/** A killed process cleans up nothing, but its pipe is closed. */
function endWithUs(pid: number): void {
  const script = 'read _; kill "$1"'
  const watch = spawn('sh', ['-c', script, 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.unref()
}
