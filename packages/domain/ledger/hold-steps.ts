import { derivedId } from '../../contract/identity.ts'
import type { Context, Message } from '../../kernel/decider.ts'
import type { LedgerEvents } from './events.ts'
import { pendingAfter, stamp } from './guards.ts'
import { advancing, pendingOf, posting, voiding, type Hold, type OpenPart } from './holds.ts'
import { amountsOf } from './parts.ts'
import type { Posting } from './postings.ts'
import type { Book } from './state.ts'
import { holdTemplates, type HoldSteps, type Template } from './templates.ts'

type Step = Message<Pick<LedgerEvents, 'HoldAdvanced' | 'HoldPosted' | 'HoldVoided'>>

/** A hold, and those of its parts that take the step. */
export interface Stepping {
  readonly hold: Hold
  readonly parts: readonly OpenPart[]
  readonly book: Book
  readonly context: Context
}

export function advanced(stepping: Stepping): Step[] {
  const { hold, parts } = stepping
  const { advanced: template } = stepsOf(hold)
  if (!template) throw new Error(`a ${hold.template} is never advanced`)
  // A fee is never sent, so a part that is only a fee advances along with others.
  const sent = together(hold, parts).filter((some) => amountsOf(some).amount > 0)
  return sent.map((some) => {
    const entry = entryOf(stepping, { template, parts: some, postings: advancing(some) })
    return { type: 'HoldAdvanced', data: entry } as Step
  })
}

export function posted(stepping: Stepping, rail?: string): Step[] {
  const { hold, parts, book } = stepping
  const { posted: template } = stepsOf(hold)
  return together(hold, parts).map((some) => {
    const entry = entryOf(stepping, { template, parts: some, postings: posting(some, rail) })
    const data = Object.assign({}, pendingLeft(book, hold, { parts: some, left: -pendingOf(some) }), entry)
    return { type: 'HoldPosted', data } as Step
  })
}

export function voided(stepping: Stepping): Step[] {
  const { hold, parts, book } = stepping
  const states = ['advanced', 'placed'] as const
  return states.flatMap((state) => {
    const template = stepsOf(hold).voided[state]
    const inState = parts.filter((part) => part.state === state)
    return together(hold, inState).map((some) => {
      const entry = entryOf(stepping, { template, parts: some, postings: voiding(some) })
      const data = { ...pendingLeft(book, hold, { parts: some, left: 0 }), ...entry }
      return { type: 'HoldVoided', data } as Step
    })
  })
}

function stepsOf({ template }: Hold): HoldSteps {
  return holdTemplates[template]
}

/** Which parts share an entry: all of them, or each its own where parts are different things. */
function together(hold: Hold, parts: readonly OpenPart[]): readonly (readonly OpenPart[])[] {
  if (parts.length === 0) return []
  return stepsOf(hold).parts ? parts.map((part) => [part]) : [parts]
}

interface StepEntry {
  readonly template: string
  readonly parts: readonly OpenPart[]
  readonly postings: Posting[]
}

function entryOf({ hold, book, context }: Stepping, { template, parts, postings }: StepEntry) {
  const { subject: of, description, placed } = hold
  const isWhole = parts.length === placed
  const names = parts.map(({ id }) => id)
  const type = stepsOf(hold).parts
  const subject = type ? { type, id: names[0]! } : of
  // Each part takes each step once, so the parts' names identify the entry.
  const entryId = derivedId(subject.id, isWhole || type ? template : `${template} ${names.join(' ')}`)
  const entry = stamp(book, { entryId, subject, amounts: amountsOf(parts), postings }, context)
  return {
    template: template as Template,
    holdId: of.id,
    ...(!isWhole && { parts: names }),
    ...(description !== undefined && { description }),
    ...entry,
  }
}

interface Taken {
  readonly parts: readonly OpenPart[]
  readonly left: number
}

function pendingLeft(book: Book, { payment }: Hold, { parts, left }: Taken) {
  return payment && pendingOf(parts) > 0 ? pendingAfter(book, payment, left) : {}
}
