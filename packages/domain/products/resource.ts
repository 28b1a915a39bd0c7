import { deletion, resource } from '../../contract/resource.ts'
import {
  choice,
  clearable,
  MetadataRevision,
  nameText,
  nullable,
  optional,
  proseText,
  record,
  Timestamp,
  Type,
} from '../../contract/vocabulary.ts'
import { productFields } from './product.ts'

const { unit_amount, currency, default_price, image_asset_ids, metadata } = productFields

const name = { ...nameText(256, 'As buyers see it'), examples: ['Solar lamp'] }
const description = nullable(proseText(4000, 'More about it'))
const active = Type.Boolean({ description: 'Whether it can be sold' })

export const ProductRequest = record({
  name,
  description: optional(description),
  unit_amount: optional(unit_amount),
  currency: optional(currency),
  default_price: optional(default_price),
  image_asset_ids: optional(image_asset_ids),
  metadata: optional(metadata),
  active: optional(active),
})

export const ProductRevision = record({
  name: optional(name),
  description: clearable(description),
  unit_amount: clearable(unit_amount),
  currency: clearable(currency),
  default_price: clearable(default_price),
  image_asset_ids: optional(image_asset_ids),
  metadata: clearable(MetadataRevision),
})

export const ProductActivation = record({ active })
export const ProductStatus = choice('active', 'inactive')

const fields = { ...productFields, active, updated_at: Timestamp }

export const { schema: ProductResource, view: viewProduct } = resource('product', 'prod', fields)
export const { schema: DeletedProduct, view: viewDeletedProduct } = deletion('product', 'prod')
