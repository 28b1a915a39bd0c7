import type { Answer } from './connection.ts'

/** One unit of work of a client: it yields requests and is given their answers. */
export type Flow = () => Generator<string, void, Answer>

/** Throws when an answer is not the one that the flow goes on with. */
export function expect({ status, body }: Answer, wanted: number): void {
  if (status !== wanted) throw new Error(`answered ${status}: ${body.slice(0, 500)}`)
}
