import { literals, type Static } from '../../contract/vocabulary.ts'

/** What an operator may say about a payout. */
export const Word = literals('paid', 'failed', 'returned')
export type Word = Static<typeof Word>

/** The record that it contradicts; `returned` was paid before. */
export const Recorded = literals('pending', 'canceled', 'paid', 'failed', 'returned')
export type Recorded = Static<typeof Recorded>

/**
 * `give_back`: it never arrived, so the merchant gets the money back. `charge`: it arrived after all, so the
 * merchant is charged again if the balance covers it. `case`: people decide.
 */
export const Remedy = literals('give_back', 'charge', 'case')
export type Remedy = Static<typeof Remedy>

type Remedies = Readonly<Record<Recorded, Readonly<Partial<Record<Word, Remedy>>>>>

/** Combinations left out agree with the record: the money is where it says. */
const remedies: Remedies = {
  pending: { paid: 'case', returned: 'case' },
  canceled: { paid: 'case' },
  paid: { failed: 'give_back', returned: 'case' },
  failed: { paid: 'charge' },
  returned: { paid: 'case' },
}

export function payoutRemedy(recorded: Recorded, word: Word): Remedy | undefined {
  return remedies[recorded][word]
}
