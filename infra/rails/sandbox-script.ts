import {
  magicValueOf,
  type MagicValue,
  type SandboxBehaviour,
} from '../../packages/contract/payments/sandbox.ts'
import type { RailRequest, RailState } from '../../packages/kernel/ports/rails.ts'
import type { Script, Step } from './sandbox-book.ts'

/** Domain model 4 and 7. */
export const sandboxDelaysMs = {
  soon: 2_000,
  late: 5_000,
  moneyReturns: 10_000,
  operatorPending: 15 * 60_000,
  promptExpires: 5 * 60_000,
  cardRedirectExpires: 15 * 60_000,
}

export type SandboxDelays = Readonly<Record<keyof typeof sandboxDelaysMs, number>>

/**
 * Inferred: payments from these wallets are approved in the payer's browser, not by a prompt on the phone.
 */
const redirectingOperators: ReadonlySet<string> = new Set(['wave'])

const failureMessages: Readonly<Record<string, string>> = {
  insufficient_funds: 'The payer does not have enough money.',
  recipient_not_found: 'The operator does not know the recipient.',
  payer_declined: 'The payer declined the payment.',
  operator_declined: 'The operator declined the payout.',
  payment_timeout: 'The payer did not approve the payment in time.',
  card_declined: 'The bank declined the card.',
  expired_card: 'The card has expired.',
  incorrect_cvc: 'The security code of the card is wrong.',
  could_not_process: 'The operator could not process it.',
}

interface Scene {
  readonly request: RailRequest
  readonly magic: MagicValue | undefined
  /** The state of an operation that was accepted and waits. */
  readonly waiting: RailState
  readonly delaysMs: SandboxDelays
}

type Play = (scene: Scene) => Script | undefined

const plays: Readonly<Record<SandboxBehaviour, Play>> = {
  succeeds_soon: succeedsSoon,
  fails_soon: (scene) => waits(scene, [{ ...failure(scene), afterMs: scene.delaysMs.soon }]),
  fails_late: (scene) => waits(scene, [{ ...failure(scene), afterMs: scene.delaysMs.late }]),
  never_answers: neverAnswers,
  stays_pending: (scene) => waits(scene, [{ ...success, afterMs: scene.delaysMs.operatorPending }]),
  is_down: () => undefined,
  is_returned: isReturned,
  calls_back_twice: (scene) => waits(scene, [{ ...success, callbacks: 2, afterMs: scene.delaysMs.soon }]),
  refund_fails: succeedsSoon,
  redirects: (scene) => waits(scene, [{ ...timeout, afterMs: scene.delaysMs.cardRedirectExpires }]),
  declines_at_once: (scene) => ends(failure(scene).state),
  succeeds_at_once: () => ends(success.state),
}

/** What the simulated operator does with a request. `undefined`: it is down and does nothing. */
export function scriptOf(
  request: RailRequest,
  redirectUrl: string,
  delaysMs: SandboxDelays,
): Script | undefined {
  const magic = magicValueOf(request.method)
  const scene = { request, magic, delaysMs, waiting: waitingState(request, magic, redirectUrl) }
  if (request.kind === 'refund') return refundScript(scene)
  return magic ? plays[magic.behaviour](scene) : withoutMagic(scene)
}

function waitingState({ kind, method }: RailRequest, magic: MagicValue | undefined, url: string): RailState {
  const isWallet = method.type === 'mobile_money' && redirectingOperators.has(method.operator)
  const redirects = kind === 'collection' && (isWallet || magic?.behaviour === 'redirects')
  return redirects ? { state: 'redirect', url } : { state: 'pending' }
}

function withoutMagic(scene: Scene): Script {
  const { request, delaysMs } = scene
  if (request.method.type === 'card') return ends(failureOf('card_declined').state)
  if (request.method.type === 'bank') return ends(success.state)
  return waits(scene, request.kind === 'collection' ? [{ ...timeout, afterMs: delaysMs.promptExpires }] : [])
}

function refundScript(scene: Scene): Script {
  return ends(scene.magic?.behaviour === 'refund_fails' ? failure(scene).state : success.state)
}

function succeedsSoon(scene: Scene): Script {
  return waits(scene, [{ ...success, afterMs: scene.delaysMs.soon }])
}

/** A payment is known to have failed once its prompt has expired; of a payout nothing is ever known. */
function neverAnswers(scene: Scene): Script {
  const expiry = { ...timeout, callbacks: 0, afterMs: scene.delaysMs.promptExpires }
  return { ...waits(scene, scene.request.kind === 'collection' ? [expiry] : []), answers: false }
}

function isReturned(scene: Scene): Script {
  const { request, delaysMs } = scene
  const comesBack: Step = { state: { state: 'returned' }, callbacks: 1, afterMs: delaysMs.moneyReturns }
  const paid = { ...success, afterMs: delaysMs.soon }
  return waits(scene, request.kind === 'disbursement' ? [paid, comesBack] : [paid])
}

type Ending = Omit<Step, 'afterMs'>

const success: Ending = { state: { state: 'succeeded' }, callbacks: 1 }
const timeout = failureOf('payment_timeout')

function failure({ magic, request }: Scene): Ending {
  return failureOf(magic?.failureCodes?.[request.kind] ?? 'could_not_process')
}

function failureOf(code: string): Ending {
  return { state: { state: 'failed', code, message: failureMessages[code] ?? code }, callbacks: 1 }
}

function waits({ waiting }: Scene, steps: readonly Step[]): Script {
  return { state: waiting, steps, answers: true }
}

function ends(state: RailState): Script {
  return { state, steps: [], answers: true }
}
