/** Red, green and blue, each 0 to 255. */
type Color = readonly [number, number, number]

const black: Color = [0, 0, 0]
const white: Color = [255, 255, 255]

/** WCAG 2.2, 1.4.3: what text needs against what is behind it. */
const contrastLeast = 4.5
const step = 0.04

interface Theme {
  /** The backgrounds that text in the accent's color stands on. */
  readonly grounds: readonly [card: Color, ground: Color]
  /** Away from the grounds. */
  readonly towards: Color
}

/** Those of the style sheet. */
const themes = {
  light: { grounds: [hex('#ffffff'), hex('#eef1f0')], towards: black },
  dark: { grounds: [hex('#17211e'), hex('#0d1412')], towards: white },
} as const satisfies Record<string, Theme>

/** The style of a merchant's color, in both themes: darker or lighter where it could not be read. */
export function brandStyle(color: string): string {
  return `:root { ${variables(color, themes.light)} }
@media (prefers-color-scheme: dark) { :root { ${variables(color, themes.dark)} } }
`
}

function variables(color: string, { grounds, towards }: Theme): string {
  const accent = readable(hex(color), grounds, towards)
  const [card] = grounds
  const onAccent = contrast(white, accent) >= contrastLeast ? white : black
  const values = {
    accent,
    'on-accent': onAccent,
    glow: mixed(card, accent, 0.25),
    tint: mixed(card, accent, 0.1),
  }
  return Object.entries(values)
    .map(([name, value]) => `--${name}: ${text(value)};`)
    .join(' ')
}

/** The nearest color that can be read on all these grounds. */
function readable(color: Color, grounds: readonly Color[], towards: Color): Color {
  for (let share = 0; share < 1; share += step) {
    const nearer = mixed(color, towards, share)
    if (grounds.every((ground) => contrast(nearer, ground) >= contrastLeast)) return nearer
  }
  return towards
}

export function contrast(one: Color, other: Color): number {
  const [lighter, darker] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance([red, green, blue]: Color): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

function linear(channel: number): number {
  const share = channel / 255
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}

function mixed(one: Color, other: Color, share: number): Color {
  const at = (index: 0 | 1 | 2) => Math.round(one[index] + (other[index] - one[index]) * share)
  return [at(0), at(1), at(2)]
}

export function hex(color: string): Color {
  const value = parseInt(color.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

function text(color: Color): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}
