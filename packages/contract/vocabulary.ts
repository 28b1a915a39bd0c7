import { Type, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox'

export { Type, type Static, type TObject, type TSchema }

/**
 * A body or resource with exactly these fields: unknown fields are refused, so that a misspelled one is not
 * silently lost.
 */
export function record<Fields extends TProperties>(fields: Fields, options: RecordOptions = {}) {
  return Type.Object(fields, { additionalProperties: false, ...options })
}

interface RecordOptions {
  readonly description?: string
  /** Field names that existing clients send instead. */
  readonly 'x-aliases'?: Readonly<Record<string, string>>
  /** Its name in the OpenAPI document, where its place does not give a good one. */
  readonly 'x-name'?: string
}

export const optional = Type.Optional

/** Emits `type: [x, 'null']` where possible: one clear error, and serialisers need not try branches. */
export function nullable<S extends TSchema>(schema: S) {
  const {
    type,
    enum: values,
    ...rest
  } = schema as TSchema & { readonly type?: string; readonly enum?: readonly unknown[] }
  if (type === undefined) return Type.Unsafe<Static<S> | null>({ anyOf: [schema, { type: 'null' }] })
  if (Array.isArray(type)) return Type.Unsafe<Static<S> | null>(schema)
  return Type.Unsafe<Static<S> | null>({
    ...rest,
    type: [type, 'null'],
    ...(values && { enum: [...values, null] }),
  })
}

/** Optional strings may be null on creation; absent and null mean the same. */
export function maybe<S extends TSchema>(schema: S) {
  return Type.Optional(nullable(schema))
}

/** In a change: null clears the field, and an absent field stays as it is. */
export function clearable<S extends TSchema>(schema: S) {
  const { description } = schema
  const note = description === undefined ? 'Null clears it' : `${description}; null clears it`
  return Type.Optional({ ...nullable(schema), description: note })
}

/** Emits `enum`: one clear error for the client instead of one per branch of an `anyOf`. */
export function literals<const Values extends readonly string[]>(...values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values] })
}

/**
 * Input of an enumeration: compared in lower case without `_`, `-` and spaces, so `MobileMoney` is
 * `mobile_money`.
 */
export function choice<const Values extends readonly string[]>(...values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', 'x-normalize': 'choice', enum: [...values] })
}

/** The greatest amount: JSON numbers are exact up to here. */
export const amountMinorMax = Number.MAX_SAFE_INTEGER

export const AmountMinor = Type.Integer({
  minimum: 1,
  maximum: amountMinorMax,
  description: 'Amount in the smallest currency unit',
})
export const CountMinor = Type.Integer({
  minimum: 0,
  maximum: amountMinorMax,
  description: 'Amount in the smallest currency unit, may be zero',
})
export const SignedMinor = Type.Integer({
  minimum: -amountMinorMax,
  maximum: amountMinorMax,
  description: 'Amount in the smallest currency unit, with its sign',
})

/** Spec, Limits: three-letter ISO code. Any case is accepted and stored in upper case. */
export const Currency = Type.String({
  'x-normalize': 'upper',
  pattern: '^[A-Z]{3}$',
  'x-expected': 'a three-letter ISO 4217 code, such as XOF',
  description: 'Three-letter ISO 4217 code in upper case; any case is taken in requests',
})
/** Spec, Limits: two characters, ISO 3166-1 alpha-2. */
export const Country = Type.String({
  'x-normalize': 'upper',
  pattern: '^[A-Z]{2}$',
  'x-expected': 'a two-letter ISO 3166-1 code, such as SN',
  description: 'ISO 3166-1 alpha-2 code',
})
/** Any ISO 3166-1 country, for fields that are not compared with our catalogue. */
export const KnownCountry = Type.String({ ...Country, format: 'country' })
export const LowerCurrency = Type.String({
  pattern: '^[a-z]{3}$',
  description: 'Three-letter ISO 4217 code in lower case, as in refunds and in the data of webhooks',
})
export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC, with milliseconds' })
export const UnixSeconds = Type.Integer({ minimum: 0, description: 'Unix time in seconds' })
export const Identity = Type.String({
  'x-expected': 'an id: a prefix and 32 hex digits, or a UUID',
  pattern: '^([a-z]{2,8}_)?([0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$',
  description: 'Public id (prefix and 32 hex digits) or bare UUID',
})
export const Uuid = Type.String({ format: 'uuid' })
export const Email = Type.String({ format: 'email', maxLength: 254 })
export const Url = Type.String({ format: 'uri', maxLength: 2048 })

/** An absolute URL that something can answer: nothing listens on port 0. */
export function isReachable(url: string): boolean {
  return URL.canParse(url) && new URL(url).port !== '0'
}

/** Where a browser is sent. Readers differ about hosts behind a backslash, or behind a name and an @. */
export const webAddress = {
  pattern: '^https?://[!"$-.0->A-\\[\\]-~]+(?:[/?#][!-\\[\\]-~]*)?$',
  'x-expected': 'a web address that begins with https:// or http:// and a host',
  maxLength: 2048,
} as const

/** International format: a plus and at most fifteen digits; spaces and hyphens between digits are dropped. */
export const Msisdn = Type.String({
  'x-normalize': 'msisdn',
  pattern: '^\\+[1-9][0-9]{6,14}$',
  'x-expected': 'a number in international format, such as +2250700000001',
  description: 'Number in international format (E.164)',
})

/** Control characters but those that begin a line or a column, and what turns around the text behind it. */
const disturbing = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069'
/** A name stays on its line and is read in its order: mails and pages show it beside words of ours. */
const broken = `\\t\\n\\r\\u2028\\u2029${disturbing}`
/** Whoever is asked to pay has to see by whom. */
const unseen =
  ' \\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u202f\\u205f-\\u2065' +
  '\\u206a-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
const oneLine = {
  // No character fits two neighbours, so a long text that does not fit is refused in one pass.
  pattern: `^[${unseen}]*[^${broken}${unseen}][^${broken}]*$`,
  'x-expected': 'text on one line, with something in it to see',
}

/** What somebody calls a person or a thing. */
export function nameText(maxLength: number, description: string) {
  return Type.String({ ...oneLine, minLength: 1, maxLength, description })
}

/** What somebody says of a thing, in one line or several. */
export function proseText(maxLength: number, description: string) {
  const rule = { pattern: `^[^${disturbing}]*$`, 'x-expected': 'text without control characters' }
  return Type.String({ ...rule, maxLength, description })
}

/** Text on one line that reads in its order; it may be blank. */
export const unbroken = { pattern: `^[^${broken}]*$`, 'x-expected': 'text on one line' }

/** Domain model 1.2: at most 50 keys, keys of at most 64 characters, values of at most 512. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 50,
  propertyNames: { type: 'string', minLength: 1, maxLength: 64 },
  additionalProperties: { type: 'string', maxLength: 512 },
  description: 'Keys and values are strings',
})

/** A change of metadata. All fifty keys may be removed while fifty others are added. */
export const MetadataRevision = Type.Unsafe<Record<string, string | null>>({
  ...Metadata,
  maxProperties: 100,
  additionalProperties: { type: ['string', 'null'], maxLength: 512 },
  description: 'Keys are added or replaced; a key with null or an empty text is removed',
})

/** Schemas with a name of their own in the OpenAPI document. */
export const vocabulary = {
  AmountMinor,
  CountMinor,
  CountryCode: Country,
  CurrencyCode: Currency,
  Email,
  Environment: literals('sandbox', 'live'),
  Identity,
  LowerCurrencyCode: LowerCurrency,
  Metadata,
  MetadataRevision,
  Msisdn,
  SignedMinor,
  Timestamp,
  UnixSeconds,
  Url,
  Uuid,
}

/** Common fields of the public API's resources. Without a prefix, their id is a bare UUID. */
export function base<Name extends string>(object: Name, prefix?: string) {
  return {
    id: prefix === undefined ? Uuid : PublicId(prefix),
    object: literals(object),
    livemode: Type.Boolean({ description: 'False in sandbox' }),
    created: UnixSeconds,
  }
}

/** As returned: `po_` and 32 hex digits. */
export function PublicId(prefix: string, description = 'Public id') {
  return Type.String({
    pattern: `^${prefix}_[0-9a-f]{32}$`,
    description,
    examples: [`${prefix}_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e`],
  })
}

export function unixSeconds(at: string): number {
  return Math.floor(Date.parse(at) / 1000)
}
