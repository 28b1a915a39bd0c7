import type { Test } from 'tap'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import { Problem } from '../../packages/contract/refusals/problem.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import type { Sample } from './samples.ts'
import { schemaFaults } from './schemas/schema-faults.ts'
import type { Answer, CallOptions, TestService } from './service.ts'

export interface Sending {
  readonly route: AnyRoute
  readonly sample: Sample
  readonly options?: CallOptions | undefined
}

/** A sample of a row, with its credential unless the options name another. */
export function send(
  service: TestService,
  { route, sample: { path, body, key }, options }: Sending,
): Promise<Answer> {
  return service.call(partsOf(route).method, path, body, { ...(key && { key }), ...options })
}

/** A refusal of this status and code, which is a problem as documented. */
export function isRefused(
  t: Test,
  answer: Answer,
  [status, code, what]: readonly [number, string, string],
): void {
  t.match(answer, { status, body: { status, code } }, what)
  t.strictSame(schemaFaults(Problem, answer.body), [], what)
  t.match(answer.headers.get('content-type'), 'application/problem+json', what)
}
