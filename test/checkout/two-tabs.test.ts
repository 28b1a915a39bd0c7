import t from 'tap'
import { byPhone } from '../support/commerce/checkout.ts'
import { hostedWays } from '../support/pages/hosted-ways.ts'
import { lawOver } from '../support/law.ts'
import { startPublicService } from '../support/processes/public-service.ts'
import type { TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startPublicService(t)
})

const tabs = 6
const own = { country: 'SN', operator: 'orange_money', msisdn: '+221770000042' }
const html = { accept: 'text/html', 'accept-language': 'en' }
const ways = (['checkout', 'link', 'invoice', 'topup'] as const).map(
  (name) => [name, hostedWays[name]!] as const,
)

/** What one tab shows in the end, and what its presses were answered with. */
async function pressIn(
  address: string,
  isOpen: boolean,
): Promise<{ readonly statuses: readonly number[]; readonly text: string }> {
  const form = { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '77 000 00 42' }
  const body = new URLSearchParams(isOpen ? { ...form, Amount: '2 500' } : form)
  const pressed = await fetch(`${address}/pay`, { method: 'POST', headers: html, body, redirect: 'manual' })
  if (pressed.status !== 303) return { statuses: [pressed.status], text: await pressed.text() }
  const shown = await fetch(new URL(pressed.headers.get('location')!, address), { headers: html })
  return { statuses: [pressed.status, shown.status], text: await shown.text() }
}

t.test('all tabs of a payer who presses at once show the one payment that is under way', async (t) => {
  await lawOver(t, ways, async ([name, way]) => {
    // A link leads to a session of its own, which all tabs then have.
    const start = await way.start(service)
    const first = await fetch(start, { headers: html })
    const address = first.url.split('?')[0]!
    const seen = await Promise.all(Array.from({ length: tabs }, () => pressIn(address, name === 'link')))
    for (const { statuses, text } of seen) {
      t.strictSame(statuses, [303, 200], name)
      t.match(text, /Confirm on your phone/i, name)
    }
  })
})

t.test('a page that others have made is answered with the one payment, too', async (t) => {
  await lawOver(t, ways, async ([name, way]) => {
    const start = await way.start(service)
    const address = new URL((await fetch(start, { headers: html })).url).pathname
    const id = address.split('/').at(-1)!
    const isSession = name === 'checkout' || name === 'link'
    const [path, body] = isSession
      ? [
          `/api/checkout/${id}/pay`,
          { ...byPhone(own), ...(name === 'link' && { collected: { amount: 2_500 } }) },
        ]
      : [`${address}/pay`, { PaymentMethod: 'mobile_money', Operator: own.operator, PhoneNumber: own.msisdn }]
    const answers = await Promise.all(
      Array.from({ length: tabs }, () => service.post(path, body, { key: '' })),
    )
    const status = isSession ? { status: 'processing' } : { payment_status: 'processing' }
    for (const answer of answers) t.match(answer, { status: 200, body: status }, name)
    const operations = answers.map(({ body }) =>
      JSON.stringify(/op_[0-9a-f]+/.exec(JSON.stringify(body))?.[0]),
    )
    t.equal(new Set(operations).size, 1, name)
  })
})
