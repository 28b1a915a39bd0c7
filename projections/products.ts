import { product } from '../packages/domain/products/product.ts'
import { documents } from '../packages/kernel/projection.ts'

export const products = documents(product, {
  name: 'products',
  version: 1,
  columns: { status: 'text' },
  countedBy: ['status'],
})
