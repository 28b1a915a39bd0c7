import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { addressBlocks } from '../../infra/http/addresses.ts'
import { guardedPools } from '../../infra/http/egress.ts'
import { dnsLookup } from '../../infra/http/resolver.ts'
import { nameServer, type Names } from '../support/network/name-server.ts'

async function world(t: Test, names: Names) {
  const shop = createServer((_, response) => response.end('taken'))
  await new Promise<void>((listening) => shop.listen(0, '127.0.0.1', listening))
  t.teardown(() => void shop.close().closeAllConnections())
  const server = await nameServer(t, names)
  const egress = guardedPools({
    allow: addressBlocks(['127.0.0.0/8']),
    connectTimeoutMs: 5_000,
    timeoutMs: 15_000,
    answerBytesMax: 4_096,
    poolsMax: 100,
    lookup: dnsLookup({ timeoutMs: 400, tries: 1, servers: [server.address] }),
  })
  t.teardown(() => egress.close())
  const { port } = shop.address() as AddressInfo
  const post = (name: string) => egress.post({ url: `http://${name}:${port}/`, headers: {}, body: '{}' })
  return { post, asked: server.asked }
}

t.test('names whose servers are silent hold up no other name', async (t) => {
  const slow = Array.from({ length: 32 }, (_, index) => `slow${index}.example`)
  const silent = Object.fromEntries(slow.map((name) => [name, 'silent'] as const))
  const { post, asked } = await world(t, { ...silent, 'shop.example': { A: ['127.0.0.1'] } })
  let ended = 0
  const hanging = slow.map((name) => post(name).finally(() => ended++))
  const settled = Promise.allSettled(hanging)
  t.match(await post('shop.example'), { status: 200, body: 'taken' })
  t.equal(ended, 0, 'all of them were under way')
  const outcomes = await settled
  t.ok(outcomes.every((one) => one.status === 'rejected' && one.reason.code === 'ETIMEOUT'))
  t.ok(slow.every((name) => asked.includes(`A ${name}`)))
})

t.test('a name is called at the addresses that DNS has for it, of either family', async (t) => {
  const { post } = await world(t, {
    'four.example': { A: ['127.0.0.1'] },
    'half-silent.example': { A: ['127.0.0.1'], AAAA: 'silent' },
    'inside.example': { A: ['10.0.0.1'] },
    'inside-by-six.example': { A: ['127.0.0.1'], AAAA: ['fd00::1'] },
    'empty.example': {},
  })
  t.match(await post('four.example'), { status: 200 })
  t.match(await post('half-silent.example'), { status: 200 }, 'the other family is not waited for')
  await t.rejects(post('inside.example'), { name: 'AddressRefusedError' })
  await t.rejects(post('inside-by-six.example'), { name: 'AddressRefusedError' })
  await t.rejects(post('empty.example'), { code: 'ENODATA' })
  await t.rejects(post('unknown.example'), { code: 'ENOTFOUND' })
})

t.test('localhost is this machine, whatever a name server says', async (t) => {
  const { post, asked } = await world(t, { localhost: { A: ['127.0.0.1'] } })
  for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'api.localhost'])
    await t.rejects(post(name), { name: 'AddressRefusedError' }, name)
  t.strictSame(asked, [])
})
