import type { NamedExamples } from '../../contract/routes.ts'

const id = '01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'
const other = '01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0f'

export const organizationExamples: NamedExamples = {
  company: {
    summary: 'One that stands by itself',
    value: { displayName: 'Boutique Awa', country: 'CI', type: 'company' },
  },
  association: {
    summary: 'An association',
    value: { displayName: 'Les amis du quartier', country: 'SN', type: 'nonprofit' },
  },
}

export const organizationSwitchExamples: NamedExamples = {
  once: { summary: 'In this session', value: { organizationId: id } },
  always: { summary: 'From now on', value: { organizationId: id, persist: true } },
}

export const merchantSwitchExamples: NamedExamples = {
  merchant: { summary: 'One of `GET /api/v1/auth/merchants`', value: { merchantId: id } },
  other: { summary: 'Another one', value: { merchantId: other } },
}
