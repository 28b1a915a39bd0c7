import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { EventStoreDbPeer } from './peer.ts'

/**
 * The server as a process of its own, so that its cost is not attributed to its clients. Prints where it
 * listens, and writes events on request.
 */

interface Wanted {
  readonly events: number
  readonly perTurn: number
  readonly everyMs: number
}

const peer = await EventStoreDbPeer.start()
const owner = { merchant: randomUUID(), livemode: false }
const metadata = { ...owner, correlation: randomUUID(), actor: 'bench', version: 1 }
const data = Buffer.from(JSON.stringify({ amount: 5_000, currency: 'XOF', text: 'x'.repeat(150) }))

process.on('message', (wanted: Wanted) => void write(wanted))
process.once('disconnect', () => process.exit(0))
if (process.send) process.send({ url: peer.url })
else process.stdout.write(`${peer.url}\n`)

async function write({ events, perTurn, everyMs }: Wanted): Promise<void> {
  for (let written = 0; written < events; written += perTurn) {
    const stamp = Buffer.from(JSON.stringify({ ...metadata, at: new Date().toISOString() }))
    for (let turn = 0; turn < perTurn; turn++) {
      const contentType = 'application/json'
      const event = { id: randomUUID(), type: 'PayoutPaid', contentType, data, metadata: stamp }
      peer.log.append(`payout-${randomUUID()}`, -1, [event])
    }
    await pause(everyMs)
  }
}
