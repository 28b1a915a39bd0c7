import type { Family } from '../../contract/family.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { product } from './product.ts'
import { ProductResource, viewProduct } from './resource.ts'

const told = publicEvents(product, {
  scope: 'billing.read',
  types: {
    'product.created': 'A product was created.',
    'product.updated': 'A product was changed, activated or deactivated.',
  },
  events: {
    ProductCreated: 'product.created',
    ProductRevised: 'product.updated',
    ProductActivated: 'product.updated',
    ProductDeactivated: 'product.updated',
  },
  returns: ProductResource,
  view: viewProduct,
})

/** What a merchant sells. The model family: read it when you add one (README, "Add an endpoint"). */
export const products: Family = {
  name: 'products',
  ids: { product: 'prod' },
  scopes: ['billing.read', 'billing.write'],
  streams: [product],
  publicEvents: [told],
}
