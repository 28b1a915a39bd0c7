import { Type, type StaticDecode, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** The protocol to the simulated operators in another process: `POST /<call>` with one of these as JSON. */

const Time = Type.Transform(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' }),
)
  .Decode((text) => new Date(text))
  .Encode((time) => time.toISOString())

const Reference = Type.String({ minLength: 1, maxLength: 100 })
const Count = Type.Integer({ minimum: 0 })

const State = Type.Union([
  Type.Object({ state: Type.Literal('never_received') }),
  Type.Object({ state: Type.Literal('pending') }),
  Type.Object({ state: Type.Literal('redirect'), url: Type.String() }),
  Type.Object({ state: Type.Literal('succeeded') }),
  Type.Object({ state: Type.Literal('failed'), code: Type.String(), message: Type.String() }),
  Type.Object({ state: Type.Literal('returned') }),
])

const Method = Type.Union([
  Type.Object({
    type: Type.Literal('mobile_money'),
    country: Type.String(),
    operator: Type.String(),
    msisdn: Type.String(),
  }),
  Type.Object({ type: Type.Literal('card'), token: Type.String() }),
  Type.Object({
    type: Type.Literal('bank'),
    bankCode: Type.String(),
    accountNumber: Type.String(),
    accountName: Type.String(),
  }),
])

const Request = Type.Object({
  reference: Reference,
  kind: Type.Union([Type.Literal('collection'), Type.Literal('disbursement'), Type.Literal('refund')]),
  merchant: Type.String(),
  livemode: Type.Boolean(),
  amountMinor: Type.Integer({ minimum: 1 }),
  currency: Type.String(),
  method: Method,
  returnUrl: Type.Optional(Type.String()),
})

const Step = Type.Object({ state: State, afterMs: Count, callbacks: Count })
const Script = Type.Object({ state: State, steps: Type.Array(Step), answers: Type.Boolean() })
const CalledBack = Type.Object({
  reference: Reference,
  attempts: Count,
  accepted: Type.Boolean(),
  nextAt: Time,
})

export const calls = {
  submit: Type.Object({ request: Request, script: Script, now: Time }),
  find: Type.Object({ reference: Reference }),
  advance: Type.Object({ now: Time, limit: Count, reference: Type.Optional(Reference) }),
  claim: Type.Object({ now: Time, until: Time, limit: Count }),
  settle: Type.Object({ callbacks: Type.Array(CalledBack) }),
  resolve: Type.Object({ reference: Reference, state: State, now: Time }),
} as const satisfies Record<string, TSchema>

export type Call = keyof typeof calls
/** A call's parameters, with times as `Date`. */
export type Question<Name extends Call> = StaticDecode<(typeof calls)[Name]>

/** The body is not a valid call; the message names the field. */
export class CallRefusedError extends Error {
  override readonly name = 'CallRefusedError'
}

/** Reads a call's body; throws CallRefusedError when it is invalid. */
export function decodeCall<Name extends Call>(name: Name, body: unknown): Question<Name> {
  const schema: TSchema = calls[name]
  const [fault] = Value.Errors(schema, body)
  if (fault) throw new CallRefusedError(`${fault.path || 'the body'}: ${fault.message}`)
  // The type is derived from this very schema; the library types a decoded value as unknown.
  return Value.Decode(schema, body) as Question<Name>
}
