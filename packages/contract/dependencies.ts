import type { BlindIndex } from '../kernel/blind-index.ts'
import type { GoogleSignIn, OneTimeCodes, Passkeys, Passwords, Tokens } from '../kernel/ports/credentials.ts'
import type { Executor } from '../kernel/execution/execute.ts'
import type { Images } from '../kernel/ports/images.ts'
import type { LogProofs, LogSignatures } from '../kernel/ports/proofs.ts'
import type { PublicEvents } from '../kernel/ports/messages.ts'
import type { MovedClocks } from '../kernel/time/moved-clocks.ts'
import type {
  Clock,
  EventStore,
  Exclusively,
  Log,
  Mailer,
  NewId,
  OpaqueNumbers,
  Vault,
} from '../kernel/ports.ts'
import type { Texter } from '../kernel/ports/texts.ts'
import type { PaymentRails, SandboxRail } from '../kernel/ports/rails.ts'
import type { Answers, ReadStore } from '../kernel/ports/reads.ts'
import type { Tracing } from '../kernel/ports/traces.ts'
import type { PersonalKeys } from '../kernel/personal.ts'

/** What actions may use: the ports and the executor. */
export interface Dependencies {
  readonly executor: Executor
  readonly store: EventStore
  readonly reads: ReadStore
  readonly rail: PaymentRails
  /** Only where operators are simulated. */
  readonly sandboxRail: SandboxRail
  readonly publicEvents: PublicEvents
  /** Answers to keyed requests. */
  readonly answers: Answers
  readonly images: Images
  readonly vault: Vault
  /** Log positions, opaque because others could read our volume from them. */
  readonly opaque: OpaqueNumbers
  readonly personalKeys: PersonalKeys
  readonly logProofs: LogProofs
  readonly logSignatures: LogSignatures
  readonly exclusively: Exclusively
  readonly blindIndex: BlindIndex
  readonly tokens: Tokens
  readonly passwords: Passwords
  readonly codes: OneTimeCodes
  readonly passkeys: Passkeys
  /** Left out where nobody has set it up. */
  readonly google?: GoogleSignIn
  readonly mailer: Mailer
  readonly texter: Texter
  readonly clock: Clock
  readonly movedClocks: MovedClocks
  readonly newId: NewId
  readonly log: Log
  /** Left out where nobody collects traces. */
  readonly tracing?: Tracing
  /** Why a webhook URL is refused; `undefined` when it is accepted. */
  readonly urlFault: (url: string, livemode: boolean) => string | undefined
  /** The public address of this service, without a slash at the end. */
  readonly baseUrl: string
  /** Where the pages are that mailed links lead to. */
  readonly dashboardUrl: string
  /** False where nobody counts requests, mails or codes: RATE_LIMIT=off. */
  readonly limitsCounts: boolean
}
