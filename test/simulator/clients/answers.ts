import { ownerText } from '../../../packages/kernel/owner.ts'
import type { Answer, AnswerKey, Answers } from '../../../packages/kernel/ports/reads.ts'
import type { Life, Scheduler } from '../scheduler.ts'

interface KeptAnswer {
  readonly fingerprint: string
  readonly startedAt: number
  readonly answer: Answer | undefined
}

const leaseMs = 60_000

/** Answers of keyed requests, like infra/postgres/idempotency/answers.ts. */
export class SimulatedAnswers {
  readonly #scheduler: Scheduler
  readonly #kept = new Map<string, KeptAnswer>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  reachedFrom(life: Life): Answers {
    const call = <Result>(work: () => Result) => this.#scheduler.call(life, work)
    return {
      begin: (key, fingerprint) => call(() => this.#begin(nameOf(key), fingerprint)),
      finish: (key, answer) =>
        call(() => {
          const known = this.#kept.get(nameOf(key))
          if (known)
            this.#kept.set(nameOf(key), { ...known, answer: JSON.parse(JSON.stringify(answer)) as Answer })
        }),
      abandon: (key) =>
        call(() => {
          if (!this.#kept.get(nameOf(key))?.answer) this.#kept.delete(nameOf(key))
        }),
      release: (key) =>
        call(() => {
          const known = this.#kept.get(nameOf(key))
          if (known && !known.answer) this.#kept.set(nameOf(key), { ...known, startedAt: -Infinity })
        }),
      lookup: async () => [],
    }
  }

  #begin(name: string, fingerprint: string): Awaited<ReturnType<Answers['begin']>> {
    const known = this.#kept.get(name)
    const { now } = this.#scheduler
    const hasDied =
      known && !known.answer && known.fingerprint === fingerprint && known.startedAt < now - leaseMs
    if (!known || hasDied) {
      this.#kept.set(name, { fingerprint, startedAt: now, answer: undefined })
      return { state: 'begun', isResumed: known !== undefined }
    }
    if (known.fingerprint !== fingerprint) return { state: 'other_request' }
    return known.answer ? { state: 'done', fingerprint, answer: known.answer } : { state: 'running' }
  }
}

function nameOf(answer: AnswerKey): string {
  return `${ownerText(answer)} ${answer.operation} ${answer.key}`
}
