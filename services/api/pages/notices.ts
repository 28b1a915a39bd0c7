import type { Visit } from '../../../packages/contract/lists/pages.ts'
import { refusals, type Refusal, type RefusalName } from '../../../packages/contract/refusals.ts'
import { html } from '../docs/html.ts'
import { frame, pageOf, readerOf, type Reader } from './layout.ts'
import type { Words } from './words.ts'

type Problem = keyof Words['problems']

const problems: Readonly<Partial<Record<RefusalName, Problem>>> = {
  checkout_amount_must_be_known: 'amount',
  payment_must_be_eligible: 'amountLimits',
  payment_method_must_be_valid: 'number',
  method_must_be_offered: 'method',
  request_must_be_valid: 'method',
  provider_must_accept_the_payment: 'provider',
  live_provider_must_be_configured: 'unsupported',
  payment_link_must_not_be_in_use: 'busy',
  resource_must_not_have_changed: 'changed',
  merchant_must_not_be_suspended: 'merchant',
  rate_must_be_within_the_limit: 'tooMany',
}

/** Why nothing was paid, in the payer's words. */
export function problemWords({ reason }: Refusal, { words }: Reader): string {
  return words.problems[problems[reason] ?? 'other']
}

/** The field of the form that it is about, if it is about one. */
export function refusedField({ reason }: Refusal): 'Amount' | 'PhoneNumber' | undefined {
  const problem = problems[reason]
  if (problem === 'number') return 'PhoneNumber'
  return problem === 'amount' || problem === 'amountLimits' ? 'Amount' : undefined
}

type Title = 'missing' | 'closed' | 'busy' | 'failed'

const titles: Readonly<Partial<Record<RefusalName, Title>>> = {
  payment_link_must_be_open: 'closed',
  payment_link_must_not_be_in_use: 'busy',
}

const unseen: readonly number[] = [429, 503]

/** Answered before it was looked for what the page is about, unlike a way to pay that no rail serves. */
export function isUnseen({ reason }: Refusal): boolean {
  return unseen.includes(refusals[reason][0]) && reason !== 'live_provider_must_be_configured'
}

/** A page of its own about a refusal. */
export function notice(refusal: Refusal, visit: Visit): string {
  const reader = readerOf(visit)
  const { words, language } = reader
  const isMissing = refusals[refusal.reason][0] === 404
  const which = titles[refusal.reason] ?? (isMissing ? 'missing' : 'failed')
  // Nobody has pressed anything yet: only the address was wrong.
  const isAddress = refusal.reason === 'request_must_be_valid' && visit.path === pageOf(visit.path)
  const isExplained = problems[refusal.reason] !== undefined && !isAddress
  const lead = isExplained ? problemWords(refusal, reader) : words[`${which}Lead`]
  const said = which === 'failed' ? lead : words[`${which}Lead`]
  const title = words[`${which}Title`]
  const isRetryable = refusals[refusal.reason][2]
  const here = `${pageOf(visit.path)}?lang=${language}`
  return frame(reader, {
    title,
    content: html`<h1>${title}</h1>
      <p>${said}</p>
      ${(isRetryable || isAddress) && html`<a class="button" href="${here}">${words.again}</a>`}`,
  })
}
