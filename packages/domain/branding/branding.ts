import { derivedId } from '../../contract/identity.ts'
import { literals, nullable, record, Type, type Static } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'

// Events

export const brandingEvents = {
  /** `accentColor`: `#0a5c49`; null for ours. */
  BrandingRevised: stored(1, record({ accentColor: nullable(Type.String()) })),
  /** Null: there is none any more. The picture is kept beside the log. */
  LogoChanged: stored(1, record({ logo: nullable(record({ hash: Type.String(), type: Type.String() })) })),
}

export type BrandingEvents = EventsOf<typeof brandingEvents>

// State

export interface Branding {
  readonly accentColor: string | null
  readonly logo: BrandingEvents['LogoChanged']['logo']
}

// Decisions

export type BrandingCommands = {
  ReviseBranding: { accent_color?: string | null | undefined }
  ChangeLogo: BrandingEvents['LogoChanged']
}

export const branding: Decider<Branding, BrandingCommands, BrandingEvents> = {
  category: 'branding',
  events: brandingEvents,
  initial: () => ({ accentColor: null, logo: null }),

  decide: {
    ReviseBranding({ accent_color: asked }, { accentColor }) {
      const color = asked?.toLowerCase() ?? null
      if (asked === undefined || color === accentColor) return []
      return [{ type: 'BrandingRevised', data: { accentColor: color } }]
    },

    ChangeLogo: ({ logo }, state) =>
      logo?.hash === state.logo?.hash ? [] : [{ type: 'LogoChanged', data: { logo } }],
  },

  evolve: {
    BrandingRevised: (state, { accentColor }) => ({ ...state, accentColor }),
    LogoChanged: (state, { logo }) => ({ ...state, logo }),
  },
}

const brandings = 'b1e6c1c4-3f4b-5a53-9a86-2f1b6a0f8d27'

/** One stream per merchant and environment. */
export function brandingId({ merchant, livemode }: MerchantOwner): string {
  return derivedId(brandings, `${merchant} ${livemode}`)
}

// As the API shows it

const AccentColor = Type.String({
  pattern: '^#[0-9A-Fa-f]{6}$',
  'x-expected': 'a color as # and six hex digits',
  examples: ['#0a5c49'],
  description:
    'Color of buttons and links on pages for payers, as `#` and six hex digits. Where it could not be read ' +
    'it is shown darker or lighter. Null: ours',
})

export const BrandingRequest = record({ accent_color: Type.Optional(nullable(AccentColor)) })

/** A page with everything is to stay below 60 kB. */
export const logoBytesMax = 32_768
/** In pixels: sharp where a page shows it, and nothing that a phone works on for long. */
export const logoSides = { least: 48, most: 1_024 }

export const LogoRequest = record({
  contentBase64: Type.String({
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    'x-expected': 'bytes in base64',
    maxLength: 200_000,
    description:
      `A PNG, JPEG or WebP of at most ${logoBytesMax} bytes, each side ${logoSides.least} to ` +
      `${logoSides.most} pixels, in base64`,
  }),
})

export const BrandingResource = record({
  object: literals('branding'),
  accent_color: nullable(AccentColor),
  logo_url: nullable(Type.String({ description: 'The picture on pages for payers; null: your initials' })),
})

/** Below the address of this service. */
export function logoPath({ logo }: Branding): string | null {
  return logo && `/assets/logo-${logo.hash}.${logo.type}`
}

/** As its history tells it. A picture that is shown no more cannot be opened. */
export function viewPastBranding(_: string, state: Branding): Static<typeof BrandingResource> {
  return viewBranding('', state, logoPath(state))
}

export function viewBranding(
  _: string,
  { accentColor }: Branding,
  logoUrl: string | null,
): Static<typeof BrandingResource> {
  return { object: 'branding', accent_color: accentColor, logo_url: logoUrl }
}
