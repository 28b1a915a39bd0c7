import type { Page, Request } from 'playwright-core'
import { accessibilityFaults, scrollsSideways } from './browser.ts'

// What holds for any page of ours. The functions run in the browser, whose types are not those of Node.

interface Seen {
  readonly dataset: Record<string, string>
  readonly style: { fontSize: string }
  readonly name?: string
  readonly type?: string
  readonly tagName: string
  checkVisibility(): boolean
  closest(selector: string): Seen | null
}

interface Shown {
  readonly document: {
    readonly activeElement: Seen | null
    readonly documentElement: Seen
    querySelectorAll(selector: string): Iterable<Seen>
  }
  readonly performance: { getEntriesByType(type: string): readonly Timing[] }
  getComputedStyle(element: Seen): { readonly outlineStyle: string }
}

interface Timing {
  readonly name: string
  readonly redirectCount: number
  readonly transferSize: number
  readonly renderBlockingStatus: string
}

/** What is wrong with it in the dark, or with letters twice as large. */
export async function faultsInOtherGuises(page: Page): Promise<readonly string[]> {
  const size = (fontSize: string) =>
    page.evaluate((value) => {
      ;(globalThis as unknown as Shown).document.documentElement.style.fontSize = value
    }, fontSize)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await accessibilityFaults(page)
  await page.emulateMedia({ colorScheme: 'light' })
  await size('200%')
  const isCut = await scrollsSideways(page)
  await size('')
  return [...dark.map((fault) => `dark: ${fault}`), ...(isCut ? ['200 %: scrolls sideways'] : [])]
}

interface Texts {
  readonly document: {
    readonly body: unknown
    createTreeWalker(root: unknown, whatToShow: number): { nextNode(): { readonly data: string } | null }
    createRange(): {
      setStart(node: unknown, at: number): void
      setEnd(node: unknown, at: number): void
      getClientRects(): Iterable<{ readonly top: number }>
    }
  }
}

/** Groups of digits that go on in the next line, and names of currencies. Receipt numbers have no groups. */
export function brokenAmounts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { document } = globalThis as unknown as Texts
    const texts = document.createTreeWalker(document.body, 4)
    const broken: string[] = []
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      for (const { 0: part, index } of text.data.matchAll(/(?<![\w:-])\d{1,3}(?![\w:-])|F\sCFA/g)) {
        const range = document.createRange()
        range.setStart(text, index)
        range.setEnd(text, index + part.length)
        const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
        if (tops.size > 1) broken.push(`${part} in ${text.data.trim()}`)
      }
    }
    return broken
  })
}

const stops = 'a[href], button, summary, input:not([type=hidden])'

/** What cannot be reached with the tabulator, or does not show that it was. */
export async function keyboardFaults(page: Page): Promise<readonly string[]> {
  const count = await page.evaluate((selector) => {
    const all = [...(globalThis as unknown as Shown).document.querySelectorAll(selector)]
    const seen = all.filter((element) => element.checkVisibility())
    // Of a group of choices, one is stopped at.
    for (const [at, element] of seen.entries())
      element.dataset['stop'] = element.type === 'radio' ? element.name! : `${element.tagName} ${at}`
    return seen.length
  }, stops)
  const reached = new Set<string>()
  const hidden = new Set<string>()
  for (let press = 0; press <= count; press++) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(() => {
      const { document, getComputedStyle } = globalThis as unknown as Shown
      const element = document.activeElement
      const name = element?.dataset['stop']
      if (!element || name === undefined) return undefined
      const around = [element, element.closest('.typed'), element.closest('.choice')]
      return { name, isSeen: around.some((one) => one && getComputedStyle(one).outlineStyle !== 'none') }
    })
    if (stop) reached.add(stop.name)
    if (stop && !stop.isSeen) hidden.add(stop.name)
  }
  const names = await page.evaluate(() =>
    [...(globalThis as unknown as Shown).document.querySelectorAll('[data-stop]')].map(
      ({ dataset }) => dataset['stop']!,
    ),
  )
  const missed = [...new Set(names)].filter((name) => !reached.has(name))
  return [
    ...missed.map((name) => `${name} is not reached`),
    ...[...hidden].map((name) => `${name} is not seen`),
  ]
}

/** Why the first paint takes as long as it does, whatever else the machine is doing. */
export interface PaintCauses {
  readonly redirects: number
  /** Files that the browser waits for before it paints. */
  readonly awaited: readonly string[]
  /** Of the page and these files, as they come over the network. */
  readonly bytes: number
}

export function paintCauses(page: Page): Promise<PaintCauses> {
  return page.evaluate(() => {
    const { performance } = globalThis as unknown as Shown
    const [navigation] = performance.getEntriesByType('navigation')
    const awaited = performance
      .getEntriesByType('resource')
      .filter(({ renderBlockingStatus }) => renderBlockingStatus === 'blocking')
    return {
      redirects: navigation!.redirectCount,
      awaited: awaited.map(({ name }) => name),
      bytes: [navigation!, ...awaited].reduce((sum, { transferSize }) => sum + transferSize, 0),
    }
  })
}

/**
 * What the whole page has cost its payer. Nothing is listened to any more when it is judged: a page goes on
 * polling until its test has closed it, and whatever is asked about a request then is never answered.
 */
export async function bytesOf(page: Page, url: string): Promise<number> {
  const finished: Request[] = []
  const note = (request: Request) => void finished.push(request)
  page.on('requestfinished', note)
  await page.goto(url, { waitUntil: 'networkidle' })
  page.off('requestfinished', note)
  const sizes = await Promise.all(finished.map((request) => request.sizes()))
  return sizes.reduce((sum, size) => sum + size.responseBodySize + size.responseHeadersSize, 0)
}
