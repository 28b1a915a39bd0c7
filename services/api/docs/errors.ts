import { STATUS_CODES } from 'node:http'
import { advice } from '../../../packages/contract/refusals/advice.ts'
import { refusalsOf } from '../../../packages/contract/refusals/of-operation.ts'
import { refusals, type RefusalName } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { html, sentence, type Html } from './html.ts'
import { layout } from './layout.ts'

const modules: Readonly<Record<string, string>> = {
  AUTH: 'Credentials',
  AUTHZ: 'Permissions',
  MERCHANT: 'Merchant',
  REQ: 'The request itself',
  RES: 'Resources and their states',
  RATE: 'Rate limits',
  SYS: 'The service',
  TRANSFER: 'Payments and refunds',
  PAYOUT: 'Payouts',
  LEDGER: 'Ledger',
  WEBHOOK: 'Webhooks',
}

/** Every refusal: its meaning, whether a repeat may succeed, what to do, and which operations return it. */
export function errorsPage(routes: readonly AnyRoute[]): string {
  const codes = grouped(Object.keys(refusals) as RefusalName[], (name) => refusals[name][1])
  const sections = grouped([...codes], ([code]) => code.split('-')[1]!)
  const operations = operationsOf(routes)
  const content = [...sections].map(
    ([module, found]) =>
      html`<h2 id="${module}">${modules[module] ?? module}</h2>
        ${found.map(([code, names]) => entry(code, names, operations))}`,
  )
  return layout({
    path: '/docs/errors',
    title: 'Errors',
    lead: sentence(
      'Every refusal is `application/problem+json` with a stable `code`. Decide by the code and by ' +
        '`retryable`, never by the text. A request that is repeated with its `Idempotency-Key` does nothing ' +
        'twice.',
    ),
    content: html`<ul class="toc">
        ${[...sections.keys()].map(contentsLine)}
      </ul>
      ${content}`,
  })
}

function contentsLine(module: string): Html {
  return html`<li><a href="#${module}">${modules[module] ?? module}</a></li>`
}

function grouped<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** Operations that may return each refusal. `undefined`: all of them. */
function operationsOf(routes: readonly AnyRoute[]): (name: RefusalName) => readonly string[] | undefined {
  const answered = new Map<RefusalName, string[]>()
  for (const route of routes) {
    for (const name of refusalsOf(route)) answered.set(name, [...(answered.get(name) ?? []), route.operation])
  }
  return (name) => (answered.get(name)?.length === routes.length ? undefined : (answered.get(name) ?? []))
}

function entry(
  code: string,
  names: readonly RefusalName[],
  operations: ReturnType<typeof operationsOf>,
): Html {
  const [status, , retryable] = refusals[names[0]!]
  const places = names.map(operations)
  const all = places.includes(undefined) ? undefined : [...new Set(places.flatMap((place) => place ?? []))]
  return html`<section class="error" id="${code}">
    <h3>
      <a href="#${code}">${code}</a> <span class="status">${status} ${STATUS_CODES[status]}</span>
      <span class="retry ${retryable ? 'yes' : ''}">${retryable ? 'retryable' : 'not retryable'}</span>
    </h3>
    ${names.map((name) => html`<p><b>${refusals[name][3]}.</b> ${sentence(advice[name])}</p>`)}
    ${whereabouts(all)}
  </section> `
}

function whereabouts(operations: readonly string[] | undefined): Html {
  if (operations === undefined) return html`<p class="status">Answered by every operation.</p>`
  if (operations.length === 0) return html``
  const count = operations.length === 1 ? 'one operation' : `${operations.length} operations`
  return html`<details>
    <summary>Answered by ${count}</summary>
    <ul>
      ${operations.map((operation) => html`<li><code>${operation}</code></li>`)}
    </ul>
  </details>`
}
