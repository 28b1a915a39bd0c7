import { erasedMap, erasedText, type Erased } from './personal.ts'

/** Fields whose values are words of ours, which may happen to be a person's too. */
const ours = new Set(['id', 'object', 'type', 'status', 'currency', 'country', 'operator', 'state', 'code'])

/** A JSON document that shows where something was erased. */
export function redacted(document: unknown, erased: Erased): unknown {
  const texts = new Set(erased.texts)
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return redactedText(value, texts)
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        if (erased.maps && name === 'metadata' && isFilled(inner)) return [name, erasedMap]
        return [name, ours.has(name) && typeof inner === 'string' ? inner : visit(inner)]
      }),
    )
  }
  return visit(document)
}

/** Also within a longer text: a message may repeat a number. The last digits alone are shown in payments. */
function redactedText(value: string, texts: ReadonlySet<string>): string {
  if (texts.has(value)) return erasedText
  let shown = value
  for (const text of texts) if (text.length >= longEnough) shown = shown.replaceAll(text, erasedText)
  return shown
}

/** Shorter texts stand in many others by chance. */
export const longEnough = 6

function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}
