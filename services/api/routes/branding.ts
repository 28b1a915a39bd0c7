import { change, history, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  branding,
  brandingId,
  BrandingRequest,
  BrandingResource,
  LogoRequest,
  viewBranding,
  viewPastBranding,
} from '../../../packages/domain/branding/branding.ts'
import { pictures } from '../../../packages/domain/branding/examples.ts'
import { brandings } from '../../../projections/branding.ts'
import { besideBranding, prepareLogo } from '../actions/organizations/logos.ts'

const own = {
  subject: brandingId,
  from: brandings,
  view: viewBranding,
  beside: besideBranding,
  returns: BrandingResource,
  inferred: true,
} as const

const rows = [
  show('GET /api/v1/merchant/settings/branding', {
    ...own,
    summary: 'How pages for your payers look',
    scope: 'settings.read',
  }),

  history('GET /api/v1/merchant/settings/branding/history', {
    subject: brandingId,
    from: brandings,
    view: viewPastBranding,
    returns: BrandingResource,
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

  change('PUT /api/v1/merchant/settings/branding/logo', {
    ...own,
    summary: 'Give pages for your payers your logo',
    scope: 'settings.write',
    body: LogoRequest,
    examples: {
      picture: { summary: 'A picture of 64 pixels', value: { contentBase64: pictures.blue } },
      other: { summary: 'Another one', value: { contentBase64: pictures.green } },
    },
    decider: branding,
    command: 'ChangeLogo',
    prepare: prepareLogo,
    refusals: ['file_must_be_allowed'],
  }),

  change('DELETE /api/v1/merchant/settings/branding/logo', {
    ...own,
    summary: 'Show your initials again',
    scope: 'settings.write',
    decider: branding,
    command: 'ChangeLogo',
    data: () => ({ logo: null }),
  }),
]

export const brandingRoutes = section(
  'Branding',
  'Pages for payers show your name, your logo, and your color wherever it can be read.',
  rows,
)
