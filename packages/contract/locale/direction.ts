/** Letters that are read from right to left, and marks that say of what stands beside them that it is. */
const rightToLeft = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
/** Begin and end of what is turned around. Requests with them are refused, but older names may have some. */
const turning = /[\u202a-\u202e\u2066-\u2069]/gu

export function hasRightToLeft(text: string): boolean {
  return rightToLeft.test(text)
}

/**
 * Somebody else's text beside words and numbers of ours, which stay in their order whatever it is written in:
 * a three behind an Arabic name would else be shown before it.
 */
export function isolated(text: string): string {
  const plain = text.replaceAll(turning, '')
  return hasRightToLeft(plain) ? `\u2068${plain}\u2069` : plain
}

/** The same words, which isolate what is put into them. */
export function isolating<Words extends object>(words: Words): Words {
  const own = Object.entries(words).map(([name, text]: [string, unknown]) => {
    if (typeof text !== 'function') return [name, text] as const
    const saying = (...parts: readonly unknown[]): unknown =>
      (text as (...given: readonly unknown[]) => unknown)(...parts.map(isolatedPart))
    return [name, saying] as const
  })
  // Each function takes and gives what it did.
  return Object.fromEntries(own) as Words
}

function isolatedPart(part: unknown): unknown {
  return typeof part === 'string' ? isolated(part) : part
}
