import t from 'tap'
import { perform, type AnyRoute } from '../../packages/contract/routes.ts'
import { record, Type } from '../../packages/contract/vocabulary.ts'
import {
  DamagedStreamError,
  OutcomeUnknownError,
  StoreAwayError,
  StoreOverloadedError,
} from '../../packages/kernel/ports.ts'
import { RailTimeoutError, RailUnavailableError } from '../../packages/kernel/ports/rails.ts'
import { ReadTimeoutError, ShareExhaustedError } from '../../packages/kernel/ports/reads.ts'
import { startApi } from '../../services/api/main.ts'
import { lawOver } from '../support/law.ts'
import { startService } from '../support/service.ts'

const cause = new Error('+221770000000')

/** What may fail behind an operation, and what its client is told. */
const failures: readonly (readonly [error: Error, status: number, code: string, retryable: boolean])[] = [
  [new OutcomeUnknownError('payout-1', cause), 504, 'IKW-SYS-003', true],
  [new RailTimeoutError('no answer'), 504, 'IKW-SYS-003', true],
  [new RailUnavailableError('down'), 503, 'IKW-SYS-002', true],
  [new StoreAwayError(cause), 503, 'IKW-SYS-002', true],
  [Object.assign(new Error('57P01'), { code: '57P01' }), 503, 'IKW-SYS-002', true],
  [Object.assign(new Error('disk full'), { code: '53100' }), 503, 'IKW-SYS-002', true],
  [Object.assign(new Error('out of memory'), { code: '53200' }), 503, 'IKW-SYS-002', true],
  [Object.assign(new Error('a disk fails'), { code: '58030' }), 503, 'IKW-SYS-002', true],
  [Object.assign(new Error('a standby'), { code: '25006' }), 503, 'IKW-SYS-002', true],
  [Object.assign(new Error('deadlock'), { code: '40P01' }), 503, 'IKW-SYS-002', true],
  [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), 503, 'IKW-SYS-002', true],
  [Object.assign(new Error('no socket'), { code: 'ENOENT', syscall: 'connect' }), 503, 'IKW-SYS-002', true],
  [Object.assign(new Error('no file'), { code: 'ENOENT', syscall: 'open' }), 500, 'IKW-SYS-001', false],
  [new StoreOverloadedError('payout-1'), 503, 'IKW-SYS-005', true],
  [new ReadTimeoutError(cause), 503, 'IKW-SYS-006', true],
  [new ShareExhaustedError(), 429, 'IKW-RATE-001', true],
  [new DamagedStreamError({ stream: 'payout-1', problem: 'cut' } as never), 503, 'IKW-SYS-007', false],
  [Object.assign(new Error('unique'), { code: '23505' }), 500, 'IKW-SYS-001', false],
  [new TypeError('a bug'), 500, 'IKW-SYS-001', false],
]

t.test('what fails behind an operation is answered by its kind, and shows nothing of itself', async (t) => {
  const { service, sandboxKey } = await startService(t, { LOG_LEVEL: 'silent' })
  let error: Error | undefined
  const row = perform('GET /test/failing', {
    summary: 'Test',
    scope: 'payouts.read',
    returns: record({ id: Type.String() }),
    action: () => {
      throw error
    },
  })
  const table = [row] as unknown as readonly AnyRoute[]
  const { port, close } = await startApi({ runtime: service.runtime, table })
  t.teardown(close)
  await lawOver(t, failures, async ([failure, status, code, retryable]) => {
    error = failure
    const headers = { authorization: `Bearer ${sandboxKey}` }
    const response = await fetch(`http://127.0.0.1:${port}/test/failing`, { headers })
    const text = await response.text()
    const told = { status: response.status, ...(JSON.parse(text) as object) }
    t.match(told, { status, code, retryable }, failure.name)
    t.notOk(text.includes(failure.message) || text.includes(cause.message), 'nothing of the failure is shown')
  })
})
