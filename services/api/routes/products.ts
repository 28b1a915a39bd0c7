import { change, create, history, list, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  activationExamples,
  productExamples,
  revisionExamples,
} from '../../../packages/domain/products/examples.ts'
import { product } from '../../../packages/domain/products/product.ts'
import {
  DeletedProduct,
  ProductActivation,
  ProductRequest,
  ProductResource,
  ProductRevision,
  ProductStatus,
  viewDeletedProduct,
  viewProduct,
} from '../../../packages/domain/products/resource.ts'
import { products } from '../../../projections/products.ts'
import { withOwnPlan } from '../actions/billing/plans.ts'

const viewed = { view: viewProduct, returns: ProductResource } as const
const read = { ...viewed, scope: 'billing.read', from: products } as const
const write = { scope: 'billing.write', decider: product } as const
const params = { id: 'product' }

const rows = [
  list('GET /api/v1/merchant/products', {
    ...read,
    summary: 'Products, newest first',
    paging: 'page',
    filter: { status: ProductStatus },
  }),

  show('GET /api/v1/merchant/products/{id}', { ...read, params, summary: 'One product' }),

  create('POST /api/v1/merchant/products', {
    ...write,
    ...viewed,
    summary: 'Create a product',
    body: ProductRequest,
    examples: productExamples,
    command: 'CreateProduct',
    refusals: ['unit_amount_must_have_a_currency', 'resource_must_exist'],
    prepare: (request) => withOwnPlan(request),
  }),

  change('PATCH /api/v1/merchant/products/{id}', {
    ...write,
    ...viewed,
    params,
    summary: 'Change a product; keys of the metadata are added, replaced or removed',
    body: ProductRevision,
    examples: revisionExamples,
    command: 'ReviseProduct',
    refusals: ['unit_amount_must_have_a_currency'],
    prepare: (request) => withOwnPlan(request),
  }),

  change('PATCH /api/v1/merchant/products/{id}/active', {
    ...write,
    ...viewed,
    params,
    summary: 'Activate or deactivate a product',
    body: ProductActivation,
    examples: activationExamples,
    command: 'SetActive',
  }),

  change('DELETE /api/v1/merchant/products/{id}', {
    ...write,
    params,
    summary: 'Delete a product; old invoices keep its name',
    command: 'DeleteProduct',
    data: () => ({}),
    view: viewDeletedProduct,
    returns: DeletedProduct,
  }),

  history('GET /api/v1/merchant/products/{id}/history', { ...read, params }),
]

export const productRoutes = section('Products', 'What you sell: a name, a price and pictures.', rows)
