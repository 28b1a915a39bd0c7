import type { TSchema } from '@sinclair/typebox'
import t from 'tap'
import { storedTypes } from '../../packages/domain/index.ts'
import type { EventType } from '../../packages/kernel/event-types.ts'
import { isPersonal, part } from '../../packages/kernel/personal.ts'
import { lawOver } from '../support/law.ts'
import { schemaExample } from '../support/schemas/schema-example.ts'

/** Texts that say nothing about a person, wherever they stand: our own words, codes, ids and digests. */
const impersonal = new Set([
  ...['account', 'source', 'feeAccount', 'rail', 'operator', 'template', 'type', 'kind', 'policy', 'action'],
  ...['id', 'subject', 'owner', 'parts', 'event', 'endpoint', 'endpoints', 'reference', 'book', 'batch'],
  ...[
    'payoutMethod',
    'defaultDestination',
    'default_price',
    'counterparty',
    'merchant',
    'organization',
    'user',
  ],
  ...['category', 'environment', 'country', 'currency', 'timeZone', 'bankCode', 'code', 'skipped', 'scopes'],
  ...['hash', 'last4', 'secretLast4', 'sealedSecret', 'sealed', 'previous', 'sha256', 'digest', 'root'],
  ...['claim', 'hold', 'publicKey', 'digests', 'reading', 'credential', 'transports'],
  ...['enabledEvents', 'preferredFlow'],
])

/** Texts that could, each with the reason why it is kept in the clear. */
const keptInTheClear: Readonly<Record<string, string>> = {
  'ApiKeyIssued.name': 'what a merchant calls a program of its own',
  'ApiKeyIssued.addresses': 'servers that a key may be used from',
  'ApiKeyRolled.successor.name': 'what a merchant calls a program of its own',
  'ApiKeyRolled.successor.addresses': 'servers that a key may be used from',
  'ApiKeyRevoked.reason': 'about a key',
  'TokenKeyRetired.reason': 'the same',
  'SignInMailRequested.asker': 'an HMAC of a user or a network, to count by',
  'SignInLinkRequested.asker': 'the same',
  'EntryPosted.description': 'told by staff about an entry or a transfer between merchants',
  'HoldPlaced.description': 'the same',
  'HoldAdvanced.description': 'the same',
  'HoldPosted.description': 'the same',
  'HoldVoided.description': 'the same',
  'TransferRequested.description': 'the same',
  'TransferSent.description': 'the same',
  'TransferReceived.description': 'the same',
  'TransferRejected.description': 'the same',
  'EntryRefused.reason': 'made here from amounts',
  'TransferRefused.reason': 'the same',
  'TransferRejected.reason': 'the same',
  'PayoutChargeRefused.reason': 'the same',
  'RefundChargeRefused.reason': 'the same',
  'PaymentIntentRefundChargeRefused.reason': 'the same',
  'CaseOpened.reason': 'made here from states and amounts',
  'PaymentIntentConfirmationStarted.method.token': 'cut to its last four characters',
  'PaymentIntentLateSuccessRecorded.method.token': 'the same',
  'RefundRequested.method.token': 'the same',
  'PaymentIntentConfirmationStarted.returnUrl': "a page of the merchant's",
  'PaymentIntentConfirmationStarted.statusUrl': 'a page of ours',
  'PaymentIntentActionRequired.url': "a page of the provider's",
  'CheckoutSessionOpened.url': 'a page of ours',
  'CheckoutSessionOpened.successUrl': "a page of the merchant's",
  'CheckoutSessionOpened.cancelUrl': 'the same',
  'BrandingRevised.accentColor': 'a color',
  'PaymentLinkCreated.url': 'a page of ours',
  'PaymentLinkCreated.description': 'what a merchant publishes',
  'WebhookEndpointRegistered.url': "a server of the merchant's",
  'WebhookEndpointRevised.url': 'the same',
  'PaymentIntentFailed.message': "an operator's words, in which numbers are masked",
  'PaymentIntentLateRefundFailed.message': 'the same',
  'PayoutFailed.failure.message': 'the same',
  'RefundFailed.message': 'the same',
  'RefundReturned.message': 'the same',
  'ProductCreated.name': 'a catalogue that merchants publish',
  'ProductCreated.description': 'the same',
  'ProductCreated.metadata': 'the same',
  'ProductRevised.name': 'the same',
  'ProductRevised.description': 'the same',
  'ProductRevised.metadata': 'the same',
  'PlanCreated.name': 'the same',
  'PlanCreated.metadata': 'the same',
  'SubscriptionStarted.items.name': 'the name of a plan',
  'SubscriptionStarted.items.meters': 'prices of a plan',
  'SubscriptionStarted.invoicing.pages': 'pages of ours',
  'SubscriptionStarted.bill.lines.description': 'names of plans and meters',
  'SubscriptionStarted.bill.pages': 'pages of ours',
  'SubscriptionRenewed.bill.lines.description': 'names of plans and meters',
  'SubscriptionRenewed.bill.pages': 'pages of ours',
  'SubscriptionCanceled.bill.lines.description': 'names of plans and meters',
  'SubscriptionCanceled.bill.pages': 'pages of ours',
  'SubscriptionCanceled.meters': 'names of meters',
  'SubscriptionUseBilled.meterKey': 'the name of a meter',
  'SubscriptionUseBilled.bill.lines.description': 'names of plans and meters',
  'SubscriptionUseBilled.bill.pages': 'pages of ours',
  'InvoiceDrafted.lines.description': 'names of plans and meters',
  'InvoiceDrafted.url': 'a page of ours',
  'InvoiceIssued.lines.description': 'names of plans and meters',
  'InvoiceIssued.url': 'a page of ours',
  'StatementImported.reading': 'a digest',
  'InterventionProposed.by': 'who is answerable for an intervention is kept as long as the books',
  'InterventionApproved.by': 'the same',
  'PeriodReopened.by': 'the same',
  'PeriodReopened.reason': 'about a month',
  'PeriodClosed.books.files.name': 'made here from a currency and a format',
  'PeriodClosed.note': 'a signature',
  'LogKeyAnnounced.note': 'a signature',
}

/** Paths of all texts that may be anything, except personal ones. */
function* openTexts(schema: TSchema, path: string): Generator<string, void> {
  if (isPersonal(schema)) return
  const { anyOf = [], items, properties = {}, additionalProperties } = schema as Nested
  for (const branch of anyOf) yield* openTexts(branch, path)
  if (items) yield* openTexts(items, path)
  for (const [name, field] of Object.entries(properties)) yield* openTexts(field, `${path}.${name}`)
  const isText = [schema['type']].flat().includes('string')
  const isFree = !['format', 'pattern', 'enum', 'const'].some((limit) => schema[limit] !== undefined)
  if ((isText && isFree) || typeof additionalProperties === 'object') yield path
}

interface Nested {
  readonly anyOf?: readonly TSchema[]
  readonly items?: TSchema
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly additionalProperties?: unknown
}

const types: readonly (readonly [string, EventType])[] = Object.entries(storedTypes)

t.test('every text in an event is personal, or is known to be about nobody', async (t) => {
  const open = new Set(types.flatMap(([type, { schema }]) => [...openTexts(schema, type)]))
  await lawOver(t, open, (path) => {
    const isKnown = impersonal.has(path.slice(path.lastIndexOf('.') + 1)) || path in keptInTheClear
    t.ok(isKnown, `${path} is marked with personal(), or stands in this test with the reason why not`)
  })
  t.strictSame(
    Object.keys(keptInTheClear).filter((path) => !open.has(path)),
    [],
    'nothing is excused that is not there',
  )
})

t.test('personal fields are sealed, each for somebody', async (t) => {
  const sealed = types.filter(([, { schema }]) => hasPersonal(schema))
  await lawOver(t, sealed, ([type, { schema, sealing }]) => {
    t.ok(sealing, `${type} is declared with sealedFor()`)
    const data = schemaExample(schema) as Record<string, unknown>
    const { personal } = part(sealing!.fields, data)
    t.ok(personal, `${type}: its example has something personal`)
    t.type(
      sealing!.subjectOf(data as never, `${merchant}.live.2026-01`),
      'string',
      `${type} is about somebody`,
    )
  })
})

const merchant = '0190a1b2-0000-7000-8000-000000000001'

function hasPersonal(schema: TSchema): boolean {
  const { anyOf = [], items, properties = {} } = schema as Nested
  return (
    isPersonal(schema) ||
    [...anyOf, ...Object.values(properties), ...(items ? [items] : [])].some(hasPersonal)
  )
}
