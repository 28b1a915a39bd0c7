import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode, type Answer } from 'dns-packet'
import type { Test } from 'tap'

/** Addresses of a name; a missing family has none, `silent` is never answered. */
export type Names = Readonly<
  Record<string, { readonly A?: readonly string[]; readonly AAAA?: readonly string[] | 'silent' } | 'silent'>
>

/** A DNS server on this machine. Names it does not know do not exist. */
export async function nameServer(t: Test, names: Names) {
  const asked: string[] = []
  const socket = createSocket('udp4', (message, from) => {
    const { id = 0, questions = [] } = decode(message)
    const [question] = questions
    if (!question) return
    const { name, type } = question
    asked.push(`${type} ${name}`)
    const known = names[name]
    const found = known === 'silent' ? known : known?.[type as 'A' | 'AAAA']
    if (found === 'silent') return
    const answers = (found ?? []).map((data): Answer => ({ name, type: type as 'A', ttl: 0, data }))
    const doesNotExist = 3
    const flags = 0x80 | (known ? 0 : doesNotExist)
    socket.send(encode({ type: 'response', id, flags, questions, answers }), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { asked, address: `127.0.0.1:${socket.address().port}` }
}
