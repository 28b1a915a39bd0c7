import { asMerchant } from '../../../packages/kernel/owner.ts'
import type { Vault } from '../../../packages/kernel/ports.ts'
import type { AnswerKey, Answers } from '../../../packages/kernel/ports/reads.ts'

interface SealedBody {
  readonly id: string | null
  readonly sealed: string
}

/** Stores answers that show a secret encrypted. Only the id of their subject stays readable. */
export function sealedAnswers(answers: Answers, vault: Vault): Answers {
  return {
    async begin(key, fingerprint) {
      const known = await answers.begin(key, fingerprint)
      if (known.state !== 'done') return known
      // What is stored under such an operation's key was put there by `finish` below.
      const { sealed } = known.answer.body as SealedBody
      const body: unknown = JSON.parse(vault.open(sealed, answerContext(key)))
      return { ...known, answer: { ...known.answer, body } }
    },
    finish(key, { status, body }) {
      const { id = null } = body as { id?: string }
      const kept: SealedBody = { id, sealed: vault.seal(JSON.stringify(body), answerContext(key)) }
      return answers.finish(key, { status, body: kept })
    },
    abandon: (key) => answers.abandon(key),
    release: (key) => answers.release(key),
    lookup: (merchant, livemode, key) => answers.lookup(merchant, livemode, key),
  }
}

/** What an answer's seal is bound to. */
export function answerContext(answer: AnswerKey): string {
  const { merchant, livemode } = asMerchant(answer)
  const { operation, key } = answer
  return `answer/${merchant}/${livemode}/${operation}/${key}`
}
