import type { Page } from 'playwright-core'

interface Point {
  readonly left: number
}

interface Browsing {
  readonly document: {
    readonly body: { textContent: string; readonly firstChild: object }
    createRange(): {
      setStart(node: object, at: number): void
      setEnd(node: object, at: number): void
      getBoundingClientRect(): Point & { readonly width: number }
    }
  }
}

/** A text on one line as a browser shows it: its characters from left to right. */
export async function seenOrder(page: Page, text: string): Promise<string> {
  const places = await page.evaluate((shown) => {
    const { document } = globalThis as unknown as Browsing
    document.body.textContent = shown
    const range = document.createRange()
    const { firstChild } = document.body
    return Array.from({ length: shown.length }, (_, at) => {
      range.setStart(firstChild, at)
      range.setEnd(firstChild, at + 1)
      const { left, width } = range.getBoundingClientRect()
      return { at, middle: left + width / 2 }
    })
  }, text)
  return places
    .toSorted((one, other) => one.middle - other.middle)
    .map(({ at }) => text[at])
    .join('')
}

/** A page on which texts stand on one line, as a whole in the direction of their first letter. */
export async function onOneLine(page: Page): Promise<void> {
  await page.setContent('<body style="white-space: pre; unicode-bidi: plaintext; width: max-content"></body>')
}
