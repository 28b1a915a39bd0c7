import { begun, existing } from '../../contract/existing.ts'
import { admitMetadata, givenMetadata, metadataChange, type MetadataChange } from '../../contract/metadata.ts'
import { refuseField } from '../../contract/refusals.ts'
import { CountMinor, Currency, Metadata, nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

/** Domain model 5.6. Declared once: events, requests and the resource agree. */
export const productFields = {
  name: Type.String({
    minLength: 1,
    maxLength: 256,
    description: 'As buyers see it',
    examples: ['Solar lamp'],
  }),
  description: nullable(Type.String({ maxLength: 4000, description: 'More about it' })),
  unit_amount: nullable(CountMinor),
  currency: nullable(Currency),
  default_price: nullable(Type.String({ maxLength: 64, description: 'Id of the plan that it is sold by' })),
  image_asset_ids: Type.Array(Uuid, { maxItems: 8, description: 'Assets that show it' }),
  metadata: Metadata,
}

const Fields = record(productFields)
const Active = Type.Boolean({ description: 'Whether it can be sold' })

// Events

export const productEvents = {
  ProductCreated: stored(1, record({ ...productFields, active: Active })),
  ProductRevised: stored(1, Fields),
  ProductActivated: stored(1, record({})),
  ProductDeactivated: stored(1, record({})),
  ProductDeleted: stored(1, record({})),
}

export type ProductEvents = EventsOf<typeof productEvents>

// State

type Fields = ProductEvents['ProductRevised']

interface Details extends Readonly<Fields> {
  readonly livemode: boolean
  readonly createdAt: string
  readonly updated_at: string
  readonly active: boolean
}

export type Product =
  { readonly status: 'none' | 'deleted' } | (Details & { readonly status: 'active' | 'inactive' })

// Decisions

export type ProductCommands = {
  CreateProduct: Partial<Fields> & { name: string; active?: boolean }
  ReviseProduct: Partial<Omit<Fields, 'metadata'>> & { metadata?: MetadataChange | null | undefined }
  SetActive: { active: boolean }
  DeleteProduct: object
}

const blank = {
  description: null,
  unit_amount: null,
  currency: null,
  default_price: null,
  image_asset_ids: [],
  metadata: {},
}

export const product: Decider<Product, ProductCommands, ProductEvents> = {
  category: 'product',
  events: productEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateProduct({ active = true, ...given }, { status }) {
      if (status !== 'none') return []
      const data = { ...blank, ...given, metadata: givenMetadata(given.metadata ?? {}), active }
      mustHaveCurrency(data)
      return [{ type: 'ProductCreated', data }]
    },

    ReviseProduct({ metadata, ...given }, state) {
      const current = fieldsOf(existing(state))
      const change = metadataChange(current.metadata, metadata)
      const next = {
        ...current,
        ...given,
        ...(change && { metadata: admitMetadata(current.metadata, change) }),
      }
      mustHaveCurrency(next)
      return JSON.stringify(next) === JSON.stringify(current) ? [] : [{ type: 'ProductRevised', data: next }]
    },

    SetActive({ active }, state) {
      if (existing(state).active === active) return []
      return [{ type: active ? 'ProductActivated' : 'ProductDeactivated', data: {} }]
    },

    DeleteProduct(_, state) {
      existing(state)
      return [{ type: 'ProductDeleted', data: {} }]
    },
  },

  evolve: {
    ProductCreated(_, { active, ...fields }, { livemode, at }) {
      const status = active ? 'active' : 'inactive'
      return { ...fields, livemode, active, status, createdAt: at, updated_at: at }
    },
    ProductRevised: (state, fields, { at }) => ({ ...begun(state), ...fields, updated_at: at }),
    ProductActivated: (state, _, { at }) => switched(state, true, at),
    ProductDeactivated: (state, _, { at }) => switched(state, false, at),
    ProductDeleted: () => ({ status: 'deleted' }),
  },
}

function mustHaveCurrency({ unit_amount, currency }: Pick<Details, 'unit_amount' | 'currency'>): void {
  if (unit_amount === null || currency !== null) return
  refuseField('unit_amount_must_have_a_currency', '/currency', 'currency is required with unit_amount')
}

function fieldsOf({ livemode, createdAt, updated_at, active, status, ...fields }: Extract<Product, Details>) {
  return fields
}

function switched(state: Product, active: boolean, at: string): Product {
  return { ...begun(state), active, status: active ? 'active' : 'inactive', updated_at: at }
}
