import { InvalidArgumentError, type Command } from 'commander'
import { currencyExponent } from '../../../packages/contract/locale/currencies.ts'
import { identity } from '../../../packages/contract/identity.ts'
import { idPrefixes } from '../../../packages/domain/index.ts'

/** How options and arguments are parsed; an invalid one is refused with the name of the option. */

export function count(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= 1 && value <= most) return value
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`)
  }
}

export function list(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** An id in either spelling, as a UUID. */
export function idOf(...kinds: readonly string[]): (text: string) => string {
  return (text) => {
    const id = identity(text, ...kinds.map((kind) => idPrefixes[kind]!))
    if (id) return id
    throw new InvalidArgumentError(
      `It must be an id${kinds.length > 0 ? ` of a ${kinds.join(' or ')}` : ''}.`,
    )
  }
}

/** A day (its first moment in UTC) or a time. */
export function time(text: string): Date {
  const parsed = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text)
  // JavaScript takes 30 February for 2 March.
  const [day] = text.split('T')
  const isDay = new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day?.slice(-2))
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  if (isTime && isDay && !Number.isNaN(parsed.getTime())) return parsed
  throw new InvalidArgumentError(
    'It must be a day such as 2026-01-31 or a time such as 2026-01-31T08:00:00Z.',
  )
}

/** One of a few words. */
export function word<const Words extends readonly string[]>(words: Words): (text: string) => Words[number] {
  return (text) => {
    const found = words.find((each) => each === text.toLowerCase())
    if (found) return found
    throw new InvalidArgumentError(`It must be one of ${words.join(', ')}.`)
  }
}

/** An ISO 4217 code, in any case. */
export function currencyCode(text: string): string {
  const code = text.toUpperCase()
  if (currencyExponent(code) !== undefined) return code
  throw new InvalidArgumentError('It must be a currency such as XOF.')
}

/** A command of a group; each prints JSON on request. */
export function commandOf(group: Command, usage: string, description: string): Command {
  return group.command(usage).description(description).option('--json', 'print JSON')
}
