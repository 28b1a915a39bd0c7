import { setTimeout as pause } from 'node:timers/promises'

const pollEveryMs = 20
const patientMs = 120_000

/** Asks until the answer is what the test waits for; throws with the last answer when it never is. */
export async function eventually<Answer>(
  ask: () => Promise<Answer>,
  isReached: (answer: Answer) => boolean,
  patienceMs = patientMs,
): Promise<Answer> {
  const until = performance.now() + patienceMs
  for (;;) {
    const answer = await ask()
    if (isReached(answer)) return answer
    if (performance.now() > until) throw new Error(`never reached; last seen: ${JSON.stringify(answer)}`)
    await pause(pollEveryMs)
  }
}
