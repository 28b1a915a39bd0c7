import { deletion, resource } from '../../contract/resource.ts'
import { choice, optional, record, Timestamp, Type } from '../../contract/vocabulary.ts'
import { productFields } from './product.ts'

const { name, description, unit_amount, currency, default_price, image_asset_ids, metadata } = productFields

const revisable = {
  description: optional(description),
  unit_amount: optional(unit_amount),
  currency: optional(currency),
  default_price: optional(default_price),
  image_asset_ids: optional(image_asset_ids),
  metadata: optional(metadata),
}

const active = Type.Boolean({ description: 'Whether it can be sold' })

export const ProductRequest = record({ name, ...revisable, active: optional(active) })
export const ProductRevision = record({ name: optional(name), ...revisable })
export const ProductActivation = record({ active })
export const ProductStatus = choice('active', 'inactive')

const fields = { ...productFields, active, updated_at: Timestamp }

export const { schema: ProductResource, view: viewProduct } = resource('product', 'prod', fields)
export const { schema: DeletedProduct, view: viewDeletedProduct } = deletion('product', 'prod')
