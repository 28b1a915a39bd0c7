import { literals, type Static } from '../../contract/vocabulary.ts'

/** What a provider may say about a refund, and the record it contradicts. */
export const Word = literals('succeeded', 'failed', 'returned')
export type Word = Static<typeof Word>
export const Recorded = literals('succeeded', 'failed')
export type Recorded = Static<typeof Recorded>

/**
 * `give_back`: the payer does not have the money, so the merchant gets it back and may refund again.
 * `charge`: the payer has it after all, so it is reserved and charged if the balance covers it. `case`:
 * people decide.
 */
export const Remedy = literals('give_back', 'charge', 'case')
export type Remedy = Static<typeof Remedy>

type Remedies = Readonly<Record<Recorded, Readonly<Partial<Record<Word, Remedy>>>>>

/** Combinations left out agree with the record: the money is where it says. */
const remedies: Remedies = {
  succeeded: { failed: 'give_back', returned: 'give_back' },
  failed: { succeeded: 'charge' },
}

export function refundRemedy(recorded: Recorded, word: Word): Remedy | undefined {
  return remedies[recorded][word]
}
