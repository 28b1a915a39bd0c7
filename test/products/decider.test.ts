import { product, type ProductEvents } from '../../packages/domain/products/product.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { scenarios } from '../support/scenarios.ts'

const fields = {
  name: 'Solar lamp',
  description: null,
  unit_amount: 5_000,
  currency: 'XOF',
  default_price: null,
  image_asset_ids: [],
  metadata: { shelf: '3' },
}
const created: Message<ProductEvents> = { type: 'ProductCreated', data: { ...fields, active: true } }
const deactivated: Message<ProductEvents> = { type: 'ProductDeactivated', data: {} }
const deleted: Message<ProductEvents> = { type: 'ProductDeleted', data: {} }

scenarios(product, {
  'a product that is created without more than a name is active and has no price': {
    when: { type: 'CreateProduct', data: { name: 'Solar lamp' } },
    then: [
      {
        type: 'ProductCreated',
        data: { ...fields, unit_amount: null, currency: null, metadata: {}, active: true },
      },
    ],
  },
  'a price without a currency is refused': {
    when: { type: 'CreateProduct', data: { name: 'Solar lamp', unit_amount: 5_000 } },
    then: 'unit_amount_must_have_a_currency',
  },
  'a currency cannot be taken from a price': {
    given: [created],
    when: { type: 'ReviseProduct', data: { currency: null } },
    then: 'unit_amount_must_have_a_currency',
  },
  'a revision leaves alone what it does not name, and adds to the metadata': {
    given: [created],
    when: { type: 'ReviseProduct', data: { description: 'Lasts a week', metadata: { row: '7' } } },
    then: [
      {
        type: 'ProductRevised',
        data: { ...fields, description: 'Lasts a week', metadata: { shelf: '3', row: '7' } },
      },
    ],
  },
  'a revision to what already is decides nothing': {
    given: [created],
    when: { type: 'ReviseProduct', data: { name: 'Solar lamp' } },
    then: [],
  },
  'an active product can be deactivated': {
    given: [created],
    when: { type: 'SetActive', data: { active: false } },
    then: [deactivated],
  },
  'a product that is not active can be activated': {
    given: [created, deactivated],
    when: { type: 'SetActive', data: { active: true } },
    then: [{ type: 'ProductActivated', data: {} }],
  },
  'a deleted product is not there any more': {
    given: [created, deleted],
    when: { type: 'ReviseProduct', data: { name: 'Solar torch' } },
    then: 'resource_must_exist',
  },
})
