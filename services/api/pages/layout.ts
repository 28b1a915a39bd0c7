import type { Visit } from '../../../packages/contract/lists/pages.ts'
import { isolating } from '../../../packages/contract/locale/direction.ts'
import type { PayersMerchant } from '../../../packages/contract/payments/payers-merchant.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import { html, type Html } from '../docs/html.ts'
import { assets, brandPath } from './assets.ts'
import { french } from './words-fr.ts'
import { english, languages, type Language, type Words } from './words.ts'

/** How the reader reads. */
export interface Reader {
  readonly language: Language
  readonly words: Words
  /** The same page in the other language. */
  readonly switchTo: string
  /** The query of each address of this page. */
  readonly here: string
}

const dictionaries: Readonly<Record<Language, Words>> = { fr: isolating(french), en: isolating(english) }

/** Of an address, such as `fr`, `FR` or `fr-CI`. */
export function chosenLanguage(tag: unknown): Language | undefined {
  const [name] = String(tag).toLowerCase().split('-')
  return languages.find((one) => one === name)
}

/** As the reader has chosen, else as the browser asks for. */
export function readerOf({
  query,
  path,
  language: best,
}: Pick<Visit, 'query' | 'path' | 'language'>): Reader {
  const language = chosenLanguage(query['lang']) ?? languages.find((one) => one === best(languages)) ?? 'en'
  const other = language === 'fr' ? 'en' : 'fr'
  const kept = ['back', 'country']
    .filter((name) => typeof query[name] === 'string')
    .map((name) => `&${name}=${encodeURIComponent(query[name] as string)}`)
    .join('')
  const switchTo = `${pageOf(path)}?lang=${other}${kept}`
  return { language, words: dictionaries[language], switchTo, here: `?lang=${language}${kept}` }
}

/** What a form was sent to is no page: its page is one step above. */
export function pageOf(path: string): string {
  return path.replace(/(?:\/(?:subscriptions|invoices)\/[^/]+)?\/(?:pay|cancel|retry|topups|wallet)\/?$/, '')
}

export interface Framed {
  readonly title: string
  /** Whose page it is: the merchant. */
  readonly name?: string
  /** The merchant's color: `#0a5c49`. */
  readonly accent?: string | null
  /** Where the merchant's picture is. */
  readonly logo?: string | null
  readonly content: Html
  readonly isTest?: boolean
  /** Seconds after which a browser without scripts looks again. */
  readonly refreshSeconds?: number
  /** What messengers show below the title, where the page is made for them. */
  readonly preview?: string
  /** Where every browser goes on at once. */
  readonly forward?: string
}

interface OfMerchant {
  readonly livemode: boolean
  readonly merchant: Static<typeof PayersMerchant>
}

/** What a page of a merchant's has of its merchant. */
export function merchantOf({ livemode, merchant }: OfMerchant) {
  const { name, accent_color: accent, logo_url: logo } = merchant
  return { name, accent, logo, isTest: !livemode }
}

/** Every page that is not documentation. */
export function frame(
  reader: Reader,
  { title, name, accent, logo, content, isTest, preview, refreshSeconds, forward }: Framed,
): string {
  const { language, words, switchTo } = reader
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="stylesheet" href="${assets.style.path}" />
        ${typeof accent === 'string' && html`<link rel="stylesheet" href="${brandPath(accent)}" />`}
        <link rel="icon" href="${assets.icon.path}" />
        ${preview !== undefined && openGraph(title, preview)}
        ${refreshSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}" /></noscript>`}
        ${forward !== undefined && html`<meta http-equiv="refresh" content="0;url=${forward}" />`}
        <script src="${assets.script.path}" defer></script>
      </head>
      <body>
        <main>
          ${isTest === true && html`<p class="test">${words.test}</p>`}
          ${name !== undefined && brand(name, logo)} ${content}
        </main>
        <footer>
          <span>${words.poweredBy}</span>
          <a href="${switchTo}" lang="${language === 'fr' ? 'en' : 'fr'}" rel="nofollow">${words.language}</a>
        </footer>
      </body>
    </html>`.text
}

function openGraph(title: string, description: string): Html {
  return html`<meta property="og:type" content="website" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${description}" />`
}

/** The merchant's first letters stand in for a logo. */
function brand(name: string, logo: string | null | undefined): Html {
  return html`<div class="brand">
    ${
      // On this site, by whatever name it is reached.
      typeof logo === 'string'
        ? html`<img class="logo" src="${new URL(logo).pathname}" alt="" width="40" height="40" />`
        : html`<span class="logo" aria-hidden="true">${initials(name)}</span>`
    }<span>${name}</span>
  </div>`
}

function initials(name: string): string {
  const words = name.split(/\s+/).slice(0, 2)
  return words
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase()
}
