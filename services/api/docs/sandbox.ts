import { markets, type Operator } from '../../../packages/contract/payments/catalog.ts'
import {
  magicCardTokens,
  magicNumbers,
  sandboxDefaults,
  type MagicValue,
} from '../../../packages/contract/payments/sandbox.ts'
import { html, sentence, type Html } from './html.ts'
import { code, layout, table } from './layout.ts'

/** What the simulated operators do, and how to control them. */
export function sandboxPage(baseUrl: string): string {
  return layout({
    path: '/docs/sandbox',
    title: 'Sandbox',
    lead: sentence(
      'With a key that begins with `ik_test_` no money moves, and the operators are simulated. The number ' +
        'or token that you send decides what happens, so every outcome can be tested.',
    ),
    content: html` <h2 id="numbers">Magic numbers</h2>
      <p>${sentence('The last four digits of a mobile money number or of a bank account number.')}</p>
      ${table(['Ends in', 'What happens'], magicNumbers.map(row))}
      <h2 id="cards">Magic card tokens</h2>
      ${table(['Token', 'What happens'], magicCardTokens.map(row))}
      <h2 id="defaults">Everything else</h2>
      ${table(
        ['Method', 'What happens'],
        Object.entries(sandboxDefaults).map(([name, effect]) => [
          html`${name.replace('_', ' ')}`,
          sentence(effect),
        ]),
      )}
      <h2 id="triggers">Playing the operator</h2>
      <p>${sentence('A payment or payout that waits can be finished by a call with a sandbox key:')}</p>
      ${code(trigger(baseUrl, 'mobile-money/callback', { payment_intent_id: 'pi_…', status: 'succeeded' }))}
      ${code(trigger(baseUrl, 'payouts/callback', failedPayout))}
      ${code(trigger(baseUrl, 'balance/topup', { amount: 100_000, currency: 'XOF' }))}
      <h2 id="operators">Operators and numbers</h2>
      <p>${sentence('These numbers belong to nobody here; each ends in `0001` and succeeds.')}</p>
      ${table(
        ['Country', 'Currency', 'Number', 'Operators'],
        markets.map((market) => [
          html`${market.country}`,
          html`${market.currency}`,
          html`<code>${market.msisdnExample}</code>`,
          html`${market.operators.map(operatorName)}`,
        ]),
      )}`,
  })
}

const failedPayout = { payout_id: 'po_…', status: 'failed', failure_code: 'operator_declined' }

function row({ value, effect }: MagicValue): readonly Html[] {
  return [html`<code>${value}</code>`, sentence(effect)]
}

function operatorName({ code: name, directions }: Operator, index: number): Html {
  return html`${index > 0 && ', '}<code>${name}</code>${!directions.includes('payout') && ' (payments only)'}`
}

function trigger(baseUrl: string, path: string, body: object): string {
  return [
    `curl -X POST ${baseUrl}/api/test/${path} \\`,
    '  -H "Authorization: Bearer $IKW_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n')
}
