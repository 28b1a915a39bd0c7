import { isolated } from '../../../packages/contract/locale/direction.ts'
import type { Visit } from '../../../packages/contract/lists/pages.ts'
import type { LinkPreview } from '../actions/payment-links.ts'
import { html } from '../docs/html.ts'
import { frame, readerOf } from './layout.ts'
import { money } from './money.ts'

/** What messengers show of a link. Nobody has opened it yet, so that there is no session to pay. */
export function linkPreview({ merchant, livemode, link }: LinkPreview, visit: Visit): string {
  const reader = readerOf(visit)
  const { words, language } = reader
  const { amount, currency, description } = link
  const title = words.pageFor(merchant)
  const sum = amount === null ? null : money(amount, currency, language)
  const what = description === null ? null : isolated(description)
  const said = [sum, what].filter((part) => part !== null).join(' · ')
  return frame(reader, {
    title,
    name: merchant,
    isTest: !livemode,
    preview: said,
    content: html`<h1>${title}</h1>
      ${said !== '' && html`<p>${said}</p>`}
      <a class="button" href="${visit.path}?open=1&amp;lang=${language}" rel="nofollow">${words.goOn}</a>`,
  })
}
