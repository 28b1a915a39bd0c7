import type { Answer } from './connection.ts'

/** One unit of a client's work: yields requests and receives their answers. */
export type Flow = () => Generator<string, void, Answer>

/** Throws on an answer with which the flow cannot go on. */
export function expect({ status, body }: Answer, wanted: number): void {
  if (status !== wanted) throw new Error(`answered ${status}: ${body.slice(0, 500)}`)
}
