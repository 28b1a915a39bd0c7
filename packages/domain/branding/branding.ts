import { derivedId } from '../../contract/identity.ts'
import { literals, nullable, record, Type, type Static } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'

// Events

export const brandingEvents = {
  /** `accentColor`: `#0a5c49`; null for ours. */
  BrandingRevised: stored(1, record({ accentColor: nullable(Type.String()) })),
}

export type BrandingEvents = EventsOf<typeof brandingEvents>

// State

export interface Branding {
  readonly accentColor: string | null
}

// Decisions

export type BrandingCommands = { ReviseBranding: { accent_color?: string | null | undefined } }

export const branding: Decider<Branding, BrandingCommands, BrandingEvents> = {
  category: 'branding',
  events: brandingEvents,
  initial: () => ({ accentColor: null }),

  decide: {
    ReviseBranding({ accent_color: asked }, { accentColor }) {
      const color = asked?.toLowerCase() ?? null
      if (asked === undefined || color === accentColor) return []
      return [{ type: 'BrandingRevised', data: { accentColor: color } }]
    },
  },

  evolve: {
    BrandingRevised: (_, { accentColor }) => ({ accentColor }),
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

export const BrandingResource = record({
  object: literals('branding'),
  accent_color: nullable(AccentColor),
})

export function viewBranding(_: string, { accentColor }: Branding): Static<typeof BrandingResource> {
  return { object: 'branding', accent_color: accentColor }
}
