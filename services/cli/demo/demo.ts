import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { readConfiguration } from '../../../infra/configuration.ts'
import type { Credentials } from '../../composition/credentials.ts'
import { commandOf } from '../terminal/arguments.ts'
import { postingsOf, postingsText } from './ledger.ts'
import { listen, type ReceivedWebhook, type Listener } from './listener.ts'
import { Merchant } from './merchant.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { readCredentials, withRuntime } from '../dependencies.ts'
import { grouped, print, type Printing } from '../terminal/output.ts'

const currency = 'XOF'
const paid = 25_000
const paidOut = 10_000
/** Ends in digits that are no magic number: the operator waits for the test trigger. */
const payer = { country: 'SN', operator: 'orange_money', msisdn: '+221770000000' }
/** Ends in 0001: the operator pays by itself after two seconds. */
const beneficiary = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000001' }
const hookedTypes = ['payment_intent.succeeded', 'payout.paid']
const lookEveryMs = 100
const noPrivateCalls =
  'not shown: this service calls no private address; `EGRESS_ALLOW=127.0.0.0/8 make run` starts one that does'
const patienceMs = 20_000

export function addDemo(program: Command): void {
  commandOf(
    program,
    'demo',
    'take a payment and send a payout on the running service, with webhooks and the ledger of it all',
  ).action(demo)
}

async function demo(options: Printing): Promise<void> {
  const configuration = readConfiguration()
  const credentials = readCredentials(configuration)
  const merchant = new Merchant(configuration.baseUrl, credentials.sandbox_key)
  await merchant.greet()
  const say = (text: string) => void (options.json || process.stdout.write(`${text}\n`))
  const listener = await listen()
  try {
    const story = await tell({ merchant, listener, say })
    const postings = await ledgerOf(credentials, story)
    say('\nEvery posting of it, with the balance of its account\n')
    print({ ...story, postings }, options, () => postingsText(postings))
  } finally {
    listener.close()
  }
}

interface Stage {
  readonly merchant: Merchant
  readonly listener: Listener
  readonly say: (text: string) => void
}

interface Story {
  readonly payment_intent: string
  readonly payout: string
  readonly balance: { readonly before: number; readonly after_payment: number; readonly after_payout: number }
  readonly webhooks: readonly ReceivedWebhook[]
}

async function tell(stage: Stage): Promise<Story> {
  const { merchant, listener, say } = stage
  say(`\nA payment and a payout in the sandbox of ${merchant.baseUrl}\n`)
  const before = await merchant.available(currency)
  say(`  balance         ${money(before)} available`)
  const endpoint = await hook(stage)
  const intent = await takePayment(stage)
  const after = await grown(stage, before, intent)
  const payout = await sendPayout(stage)
  const left = await merchant.available(currency)
  say(`  balance         ${money(left)} available`)
  const webhooks = endpoint
    ? await until('both webhooks', async () => bothOf(listener, [intent, payout]))
    : []
  for (const { type, event } of webhooks)
    say(`  webhook         ${type} (${event}), signature verified with standardwebhooks`)
  if (endpoint) await merchant.post(`/api/v1/webhook-endpoints/${endpoint}`, { enabled: false })
  return {
    payment_intent: intent,
    payout,
    balance: { before, after_payment: after, after_payout: left },
    webhooks,
  }
}

/** A service that may not call private addresses has no webhooks to show; the rest of the demo goes on. */
async function hook({ merchant, listener, say }: Stage): Promise<string | undefined> {
  const request = { url: listener.url, enabled_events: hookedTypes }
  const { status, body } = await merchant.call('POST', '/api/v1/webhook-endpoints', request)
  if (status === 400) {
    say(`  webhook         ${noPrivateCalls}`)
    return undefined
  }
  if (status !== 201) {
    throw new CommandFailedError(`The service refuses a webhook endpoint: ${String(body['message'])}.`)
  }
  listener.expect(String(body['secret']))
  say(`  webhook         ${String(body['id'])} is registered at ${listener.url}`)
  return String(body['id'])
}

async function takePayment({ merchant, say }: Stage): Promise<string> {
  const created = await merchant.post('/api/v1/payment-intents', {
    amount: paid,
    currency,
    transaction_country: payer.country,
  })
  const id = String(created['id'])
  say(`  payment intent  ${id} of ${money(paid)}: ${String(created['status'])}`)
  const method = { type: 'mobile_money', mobile_money: payer }
  const confirmed = await merchant.post(`/api/v1/payment-intents/${id}/confirm`, { payment_method: method })
  say(`  confirmed       ${String(confirmed['status'])}: the payer has to approve it on the phone`)
  const played = await merchant.post('/api/test/mobile-money/callback', {
    payment_intent_id: id,
    status: 'succeeded',
  })
  say(`  operator        ${String(played['status'])}`)
  return id
}

async function grown({ merchant, say }: Stage, before: number, intent: string): Promise<number> {
  const payment = await until('the payment', () => merchant.find(`/api/v1/merchant/payments/${intent}`))
  const fee = Number(payment['fee'])
  const expected = before + paid - fee
  await until('the balance', async () => (await merchant.available(currency)) === expected || undefined)
  say(`  balance         ${money(expected)} available: ${grouped(paid)} paid, less a fee of ${grouped(fee)}`)
  return expected
}

async function sendPayout({ merchant, say }: Stage): Promise<string> {
  const created = await merchant.post('/api/v1/payouts', {
    amount: paidOut,
    currency,
    destination: beneficiary,
  })
  const id = String(created['id'])
  const fee = grouped(Number(created['fee']))
  say(`  payout          ${id} of ${money(paidOut)} and a fee of ${fee}: ${String(created['status'])}`)
  await until('the payout', async () => {
    const { status } = (await merchant.find(`/api/v1/payouts/${id}`)) ?? {}
    if (status === 'failed' || status === 'canceled')
      throw new CommandFailedError(`The payout has ${status}.`)
    return status === 'paid' || undefined
  })
  say('  operator        paid')
  return id
}

function bothOf(listener: Listener, resources: readonly string[]): readonly ReceivedWebhook[] | undefined {
  const heard = listener.heard.filter(({ resource }) => resources.includes(resource))
  return hookedTypes.every((type) => heard.some((each) => each.type === type)) ? heard : undefined
}

async function ledgerOf({ merchant_id }: Credentials, { payment_intent, payout }: Story) {
  return withRuntime((runtime) =>
    postingsOf(runtime, { merchant: merchant_id, currency, resources: [payment_intent, payout] }),
  )
}

async function until<Found>(what: string, look: () => Promise<Found | undefined>): Promise<Found> {
  const end = performance.now() + patienceMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) {
      throw new CommandFailedError(`The demo has waited ${patienceMs / 1_000} s for ${what} in vain.`)
    }
    await pause(lookEveryMs)
  }
}

function money(amount: number): string {
  return `${grouped(amount)} ${currency}`
}
