import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import t, { type Test } from 'tap'
import { addressBlocks } from '../../infra/http/addresses.ts'
import { AddressRefusedError, guardedPools, type EgressOptions } from '../../infra/http/egress.ts'
import { CallTimedOutError } from '../../infra/http/exchange.ts'

const limits = {
  connectTimeoutMs: 5_000,
  timeoutMs: 15_000,
  answerBytesMax: 4_096,
  poolsMax: 8,
}
const here = addressBlocks(['127.0.0.1/32'])

async function sink(t: Test, listener: RequestListener, host = '127.0.0.1') {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  await new Promise<void>((listening) => server.listen(0, host, listening))
  t.teardown(() => void server.close().closeAllConnections())
  return { requests, port: (server.address() as AddressInfo).port }
}

function pools(t: Test, options: Partial<EgressOptions> = {}) {
  const egress = guardedPools({ allow: [], ...limits, ...options })
  t.teardown(() => egress.close())
  return egress
}

function callTo(url: string) {
  return { url, headers: {}, body: '{}' }
}

/** A resolver that knows one name, which has other addresses at every look-up. */
function answersInTurn(...answers: readonly string[]) {
  const asked: string[] = []
  const lookup: LookupFunction = (hostname, options, callback) => {
    asked.push(hostname)
    const address = answers[Math.min(asked.length, answers.length) - 1] ?? ''
    const family = address.includes(':') ? 6 : 4
    if (options.all) callback(null, [{ address, family }])
    else callback(null, address, family)
  }
  return { lookup, asked }
}

t.test('a name that leads inside is not called, whatever form the address has', async (t) => {
  const { requests, port } = await sink(t, (_, response) => response.end())
  for (const address of [
    '127.0.0.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '64:ff9b::7f00:1',
  ]) {
    const egress = pools(t, { lookup: answersInTurn(address).lookup })
    const call = egress.post(callTo(`http://hook.example:${port}/`))
    await t.rejects(call, { name: 'AddressRefusedError' }, address)
  }
  t.strictSame(requests, [])
})

t.test('one inner address among several public ones is enough to refuse a name', async (t) => {
  const lookup: LookupFunction = (_, __, callback) =>
    callback(null, [
      { address: '8.8.8.8', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ])
  const call = pools(t, { lookup }).post(callTo('http://hook.example/'))
  await t.rejects(call, { name: 'AddressRefusedError' })
})

t.test('an inner address in the URL itself is not called', async (t) => {
  const { requests, port } = await sink(t, (_, response) => response.end())
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost']) {
    await t.rejects(pools(t).post(callTo(`http://${host}:${port}/`)), { name: 'AddressRefusedError' }, host)
  }
  t.strictSame(requests, [])
})

t.test(
  'a name that changes its address after it was checked is checked again at every connection',
  async (t) => {
    const outer = await sink(t, (_, response) => response.setHeader('connection', 'close').end('outer'))
    const inner = await sink(t, (_, response) => response.end('inner'), '127.0.0.2')
    const { lookup, asked } = answersInTurn('127.0.0.1', '127.0.0.2')
    const egress = pools(t, { allow: here, lookup })
    const call = callTo(`http://hook.example:${outer.port}/`)
    t.strictSame(await egress.post(call), { status: 200, body: 'outer' })
    await t.rejects(egress.post(call), new AddressRefusedError('hook.example'))
    await t.rejects(
      egress.post(callTo(`http://hook.example:${inner.port}/`)),
      new AddressRefusedError('hook.example'),
    )
    t.strictSame(
      asked,
      ['hook.example', 'hook.example', 'hook.example'],
      'one look-up per connection: what is checked is what is called',
    )
    t.strictSame([outer.requests.length, inner.requests.length], [1, 0])
  },
)

t.test('a redirect is an answer like any other and is never followed', async (t) => {
  const inner = await sink(t, (_, response) => response.end('inside'))
  const outer = await sink(t, (_, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/` }).end('moved'),
  )
  const answer = await pools(t, { allow: here }).post(callTo(`http://127.0.0.1:${outer.port}/a?b=c`))
  t.strictSame(answer, { status: 302, body: 'moved' })
  t.strictSame(outer.requests, ['POST /a?b=c'])
  t.strictSame(inner.requests, [])
})

t.test('only the first 4 kB of an answer are read, also when it never ends', async (t) => {
  const { port } = await sink(t, (_, response) => {
    const pour = () => response.write('x'.repeat(1_000)) && setImmediate(pour)
    response.on('drain', pour).on('error', () => response.destroy())
    pour()
  })
  const answer = await pools(t, { allow: here }).post(callTo(`http://127.0.0.1:${port}/`))
  t.strictSame(answer, { status: 200, body: 'x'.repeat(4_096) })
})

t.test('an endpoint that does not answer, or not to the end, is given up', async (t) => {
  const silent = await sink(t, () => {})
  const dripping = await sink(t, (_, response) => void response.write('a'))
  const egress = pools(t, { allow: here, timeoutMs: 50 })
  for (const { port } of [silent, dripping]) {
    const call = egress.post(callTo(`http://127.0.0.1:${port}/`))
    await t.rejects(call, new CallTimedOutError('no answer in 50 ms'))
  }
})

t.test('connections are kept for few origins only', async (t) => {
  const closed: number[] = []
  const egress = pools(t, { allow: here, poolsMax: 2 })
  const sinks = await Promise.all(
    [0, 1, 2].map((number) =>
      sink(t, (request, response) => {
        request.socket.once('close', () => closed.push(number))
        response.end()
      }),
    ),
  )
  for (const { port } of sinks) await egress.post(callTo(`http://127.0.0.1:${port}/`))
  while (closed.length === 0) await new Promise(setImmediate)
  t.strictSame(closed, [0], 'the origin that was not used for the longest time has gone')
})

t.test('however many calls to an origin hang, none waits for a connection', async (t) => {
  const many = 300
  const { requests, port } = await sink(t, ({ url }, response) => void (url === '/good' && response.end()))
  const egress = pools(t, { allow: here })
  const hanging = Array.from({ length: many }, () => egress.post(callTo(`http://127.0.0.1:${port}/`)))
  for (const call of hanging) call.catch(() => undefined)
  t.equal((await egress.post(callTo(`http://127.0.0.1:${port}/good`))).status, 200)
  while (requests.length <= many) await new Promise(setImmediate)
  t.equal(requests.length, many + 1)
})
