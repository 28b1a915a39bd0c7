import { derivedId } from '../../contract/identity.ts'
import type { Context, Message } from '../../kernel/decider.ts'
import { merchantPending } from './accounts.ts'
import type { LedgerEvents } from './events.ts'
import { pendingAfter, stamp } from './guards.ts'
import { advancing, posting, voiding, type Hold } from './holds.ts'
import type { Posting } from './postings.ts'
import type { Book } from './state.ts'
import { holdTemplates, type Template } from './templates.ts'

type Step = Message<Pick<LedgerEvents, 'HoldAdvanced' | 'HoldPosted' | 'HoldVoided'>>

export function advanced(hold: Hold, context: Context): Step {
  const steps = holdTemplates[hold.template]
  if (!('advanced' in steps)) throw new Error(`a ${hold.template} is never advanced`)
  const entry = entryOf(hold, { template: steps.advanced, postings: advancing(hold) }, context)
  return { type: 'HoldAdvanced', data: entry }
}

export function posted(book: Book, hold: Hold, { context, rail }: { context: Context; rail: string }): Step {
  const template = holdTemplates[hold.template].posted
  const entry = entryOf(hold, { template, postings: posting(hold, rail) }, context)
  return { type: 'HoldPosted', data: { ...pendingOf(book, hold, -pendingPart(hold)), ...entry } }
}

export function voided(book: Book, hold: Hold, context: Context): Step {
  const template = holdTemplates[hold.template].voided[hold.state]
  const entry = entryOf(hold, { template, postings: voiding(hold) }, context)
  return { type: 'HoldVoided', data: { ...pendingOf(book, hold, 0), ...entry } }
}

interface StepEntry<Name> {
  readonly template: Name
  readonly postings: Posting[]
}

function entryOf<Name extends Template>(hold: Hold, step: StepEntry<Name>, context: Context) {
  const { template, postings } = step
  const { subject, amounts, description } = hold
  const entry = stamp({ entryId: derivedId(subject.id, template), subject, amounts, postings }, context)
  return { template, holdId: subject.id, ...(description !== undefined && { description }), ...entry }
}

function pendingOf(book: Book, { payment }: Hold, added: number) {
  return payment ? pendingAfter(book, payment, added) : {}
}

function pendingPart({ sources }: Hold): number {
  return sources.find(({ account }) => account === merchantPending)?.amount ?? 0
}
