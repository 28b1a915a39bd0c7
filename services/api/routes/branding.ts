import { change, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  branding,
  brandingId,
  BrandingRequest,
  BrandingResource,
  viewBranding,
} from '../../../packages/domain/branding/branding.ts'
import { brandings } from '../../../projections/branding.ts'

const own = {
  subject: brandingId,
  from: brandings,
  view: viewBranding,
  returns: BrandingResource,
  inferred: true,
} as const

const rows = [
  show('GET /api/v1/merchant/settings/branding', {
    ...own,
    summary: 'How pages for your payers look',
    scope: 'settings.read',
  }),

  change('PATCH /api/v1/merchant/settings/branding', {
    ...own,
    summary: 'Change how pages for your payers look',
    scope: 'settings.write',
    body: BrandingRequest,
    examples: {
      color: { summary: 'A color of your own', value: { accent_color: '#7a1fa2' } },
      ours: { summary: 'Ours', value: { accent_color: null } },
    },
    decider: branding,
    command: 'ReviseBranding',
  }),
]

export const brandingRoutes = section(
  'Branding',
  'Pages for payers show your name, and your color wherever it can be read.',
  rows,
)
