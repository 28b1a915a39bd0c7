import t from 'tap'
import { branding, type BrandingEvents } from '../../packages/domain/branding/branding.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { brandStyle, contrast, hex } from '../../services/api/pages/colors.ts'
import { fc } from '../support/properties.ts'
import { scenarios } from '../support/scenarios.ts'

const revised = (accentColor: string | null): Message<BrandingEvents> => {
  return { type: 'BrandingRevised', data: { accentColor } }
}

scenarios(branding, {
  'a merchant has a color of its own': {
    when: { type: 'ReviseBranding', data: { accent_color: '#7A1FA2' } },
    then: [revised('#7a1fa2')],
  },
  'nothing that is not named changes': {
    given: [revised('#7a1fa2')],
    when: { type: 'ReviseBranding', data: {} },
    then: [],
  },
  'without a color of its own it has ours': {
    given: [revised('#7a1fa2')],
    when: { type: 'ReviseBranding', data: { accent_color: null } },
    then: [revised(null)],
  },
})

/** Card and ground of each theme, as the style sheet has them. */
const grounds = { light: ['#ffffff', '#eef1f0'], dark: ['#17211e', '#0d1412'] } as const

function variablesOf(css: string): readonly Readonly<Record<string, string>>[] {
  return [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, body]) =>
    Object.fromEntries(
      [...body!.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]),
    ),
  )
}

const logo = { hash: 'a'.repeat(64), type: 'png' }
const changed = { type: 'LogoChanged', data: { logo } } as const

scenarios(branding, {
  'a merchant has a logo of its own': {
    when: { type: 'ChangeLogo', data: { logo } },
    then: [changed],
  },
  'a logo stays when the color changes, and goes by itself': {
    given: [changed, revised('#7a1fa2')],
    when: { type: 'ChangeLogo', data: { logo: null } },
    then: [{ type: 'LogoChanged', data: { logo: null } }],
  },
})

t.test('whatever color a merchant has, its text can be read in both themes', async (t) => {
  const channel = fc.integer({ min: 0, max: 255 })
  const color = fc
    .tuple(channel, channel, channel)
    .map((all) => `#${all.map((one) => one.toString(16).padStart(2, '0')).join('')}`)
  fc.assert(
    fc.property(color, (given) => {
      const [light, dark] = variablesOf(brandStyle(given))
      for (const [shown, behind] of [
        [light!, grounds.light],
        [dark!, grounds.dark],
      ] as const) {
        const accent = hex(shown['accent']!)
        const least = Math.min(...[...behind, shown['on-accent']!].map((one) => contrast(accent, hex(one))))
        if (least < 4.5) throw new Error(`${shown['accent']} of ${given}: ${least}`)
      }
    }),
    { numRuns: 500 },
  )
  t.match(brandStyle('#7a1fa2'), '--accent: #7a1fa2', 'what can be read stays as it is')
})
