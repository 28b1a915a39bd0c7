import type { ServerResponse } from 'node:http'
import t from 'tap'
import { Refusal } from '../../packages/contract/refusals.ts'
import { rateLimits } from '../../services/api/http/rate-limit.ts'

const perSecond = { live: 1, sandbox: 1, address: 5, account: 1, costly: 1 }
const response = { setHeader: () => undefined } as unknown as ServerResponse

/** How many of so many addresses are let in, each of which asks once. */
async function admitted(count: number, addressOf: (index: number) => string): Promise<number> {
  const limits = rateLimits(true, perSecond)
  let admitted = 0
  for (let index = 0; index < count; index += 1)
    await limits.count({ address: addressOf(index) }, response).then(
      () => (admitted += 1),
      (refused: unknown) => t.ok(refused instanceof Refusal),
    )
  return admitted
}

const hex = (index: number) => index.toString(16)

t.test('addresses of IPv6 count by networks, each of which has more than those in it', async (t) => {
  // Once more in a burst.
  t.equal(await admitted(50, (index) => `2001:db8:0:1::${hex(index)}`), 10, 'of one network')
  t.equal(await admitted(50, (index) => `2001:db8:0:${hex(index)}::1`), 20, 'of one subscriber')
  t.equal(await admitted(100, (index) => `2001:db8:0:${hex(index * 256)}::1`), 40, 'of one site')
  t.equal(await admitted(100, (index) => `2001:db8:${hex(index)}::1`), 100, 'of many')
  t.equal(await admitted(50, () => '203.0.113.1'), 10, 'of IPv4')
  t.equal(await admitted(50, (index) => `203.0.113.${index + 1}`), 50)
})
