import { resource } from '../../contract/resource.ts'
import { choice, literals, maybe, nameText, record, Type } from '../../contract/vocabulary.ts'
import { intervals, planFields } from './plan.ts'

const { currency, recurring_amount, metadata } = planFields

const name = { ...nameText(256, 'As invoices show it'), examples: ['Solar kit, monthly'] }

export const PlanRequest = record({
  name: maybe(name),
  currency: maybe({ ...currency, description: "ISO 4217 code; left out, the merchant's" }),
  recurringAmount: maybe({ ...recurring_amount, description: 'Price of one period; left out, 0' }),
  interval: maybe({ ...choice(...intervals), description: 'Left out, a month' }),
  usageBasedEnabled: maybe(Type.Boolean({ description: 'Left out, false' })),
  metadata: maybe(metadata),
})

export const PlanInterval = choice(...intervals)

const fields = { ...planFields, status: literals('active') }

export const { schema: PlanResource, view: viewPlan } = resource('plan', 'plan', fields)
