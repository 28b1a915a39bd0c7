import { refuse } from '../../contract/refusals.ts'
import { record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'
import { aboutUser, withRequest, type Changes, type Decisions, type Requests } from './parts.ts'

const setupLastsMs = 60 * 60_000

// Events

export const factorEvents = {
  UserTotpSetupStarted: sealedFor(
    aboutUser,
    stored(1, record({ secretId: Uuid, secret: personal(Type.String()), expiresAt: Timestamp })),
  ),
  /** `step`: of the code that proved it; no code is taken twice. */
  UserTotpEnabled: stored(1, record({ secretId: Uuid, step: Type.Integer() })),
  UserTotpUsed: stored(1, record({ step: Type.Integer() })),
  UserTotpDisabled: stored(1, record({})),
  /** Codes follow from the batch and a key. Each is an HMAC here: a hash would let it be guessed. */
  UserRecoveryCodesGenerated: stored(1, record({ batch: Uuid, digests: Type.Array(Type.String()) })),
  UserRecoveryCodeUsed: stored(1, record({ digest: Type.String() })),
}

export type FactorEvents = EventsOf<typeof factorEvents>

// State

/**
 * `from`: how often the password had changed by then; null once it is undone. It is kept even so: an earlier
 * version may have let it be enabled.
 */
type TotpSetup = FactorEvents['UserTotpSetupStarted'] & { readonly from: number | null }

export interface Factors extends Requests {
  readonly setup: TotpSetup | null
  /** Of the authenticator that is on. */
  readonly totp: { readonly secret: string; readonly lastStep: number; readonly enabledAt: string } | null
  /** Those that are left. */
  readonly recovery: {
    readonly batch: string
    readonly digests: readonly string[]
    readonly createdAt: string
  } | null
}

export const noFactors = { setup: null, totp: null, recovery: null }

/** A passkey is one too: changes ask for a proof then. */
export function hasSecondFactor({ totp, passkeys }: Pick<Factors, 'totp'> & WithPasskeys): boolean {
  return totp !== null || passkeys.length > 0
}

interface WithPasskeys {
  readonly passkeys: readonly object[]
}

interface WithPassword extends Factors {
  readonly passwordChanges: number
}

// Decisions, of a user who exists

interface Batch {
  readonly batch: string
  readonly digests: readonly string[]
}

export type FactorCommands = {
  SetUpTotp: { secretId: string; secret: string }
  /** `step` is of the code that was right for the setup. */
  EnableTotp: Batch & { secretId: string; step: number }
  /** Refused for a step that is not after the last one. */
  UseTotp: { step: number }
  DisableTotp: object
  GenerateRecoveryCodes: Batch
  UseRecoveryCode: { digest: string }
}

export const decideFactors: Decisions<WithPassword, FactorCommands, FactorEvents> = {
  SetUpTotp({ secretId, secret }, { totp, requested }, { now }) {
    if (totp) refuse('totp_must_be_off')
    if (requested.includes(secretId)) return []
    const expiresAt = new Date(now.getTime() + setupLastsMs).toISOString()
    return [{ type: 'UserTotpSetupStarted', data: { secretId, secret, expiresAt } }]
  },

  EnableTotp({ secretId, step, batch, digests }, { totp, setup, recovery, passwordChanges }, { now }) {
    if (totp) return recovery?.batch === batch ? [] : refuse('totp_must_be_off')
    // One that was begun with another password may be somebody else's.
    const isOwn = setup?.secretId === secretId && setup.from === passwordChanges
    if (!isOwn || now >= new Date(setup.expiresAt)) refuse('totp_setup_must_be_the_newest')
    return [
      { type: 'UserTotpEnabled', data: { secretId, step } },
      { type: 'UserRecoveryCodesGenerated', data: { batch, digests: [...digests] } },
    ]
  },

  UseTotp({ step }, { totp }) {
    if (!totp || step <= totp.lastStep) refuse('code_must_be_right')
    return [{ type: 'UserTotpUsed', data: { step } }]
  },

  DisableTotp: (_, { totp }) => (totp ? [{ type: 'UserTotpDisabled', data: {} }] : []),

  GenerateRecoveryCodes({ batch, digests }, { totp, requested }) {
    if (!totp) refuse('totp_must_be_on')
    if (requested.includes(batch)) return []
    return [{ type: 'UserRecoveryCodesGenerated', data: { batch, digests: [...digests] } }]
  },

  UseRecoveryCode({ digest }, { recovery }) {
    if (!recovery?.digests.includes(digest)) refuse('code_must_be_right')
    return [{ type: 'UserRecoveryCodeUsed', data: { digest } }]
  },
}

export const factorChanges: Changes<WithPassword, FactorEvents> = {
  UserTotpSetupStarted: (state, setup) => ({
    setup: { ...setup, from: state.passwordChanges },
    ...withRequest(state, setup.secretId),
  }),
  UserTotpEnabled: ({ setup }, { step }, { at }) => ({
    setup: null,
    totp: { secret: setup!.secret, lastStep: step, enabledAt: at },
  }),
  UserTotpUsed: ({ totp }, { step }) => ({ totp: { ...totp!, lastStep: step } }),
  /** What stood in for the authenticator goes with it. */
  UserTotpDisabled: () => ({ totp: null, recovery: null }),
  UserRecoveryCodesGenerated: (state, { batch, digests }, { at }) => ({
    recovery: { batch, digests, createdAt: at },
    ...withRequest(state, batch),
  }),
  UserRecoveryCodeUsed({ recovery }, { digest }) {
    const { digests, ...batch } = recovery!
    return { recovery: { ...batch, digests: digests.filter((one) => one !== digest) } }
  },
}
