import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'
import type { ServiceOptions } from '../../../services/all-in-one/start.ts'
import { startService, type TestService } from '../service.ts'

/**
 * A service that knows the address by which it is reached, as pages do that lead to each other: something
 * that listens before it passes connections on.
 */
export async function startPublicService(
  t: Test,
  environment: Readonly<Record<string, string>> = {},
  options: ServiceOptions = {},
): Promise<TestService> {
  const open = new Set<Socket>()
  let target = 0
  const door = createServer((outside) => {
    const inside = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      open.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy()).on('close', () => open.delete(socket))
    }
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
  const service = await startService(t, { BASE_URL: url, ...environment }, options)
  target = service.service.port
  t.teardown(() => {
    door.close()
    for (const socket of open) socket.destroy()
  })
  return { ...service, url }
}
