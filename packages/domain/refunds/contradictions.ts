import { literals, type Static } from '../../contract/vocabulary.ts'

/** What a provider may say of a refund, and what is on record when it says something else. */
export const Word = literals('succeeded', 'failed', 'returned')
export type Word = Static<typeof Word>
export const Recorded = literals('succeeded', 'failed')
export type Recorded = Static<typeof Recorded>

/**
 * `give_back`: the payer does not have it, so the merchant has it again, and may refund it anew. `charge`:
 * the payer has it after all, so it is reserved and charged, if it is there. `case`: people decide.
 */
export const Remedy = literals('give_back', 'charge', 'case')
export type Remedy = Static<typeof Remedy>

type Remedies = Readonly<Record<Recorded, Readonly<Partial<Record<Word, Remedy>>>>>

/** What is left out agrees with the record: no money would lie elsewhere. */
const remedies: Remedies = {
  succeeded: { failed: 'give_back', returned: 'give_back' },
  failed: { succeeded: 'charge' },
}

export function refundRemedy(recorded: Recorded, word: Word): Remedy | undefined {
  return remedies[recorded][word]
}
