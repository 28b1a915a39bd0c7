// In which order a line is drawn whose letters are read from right to left, or in both directions: Unicode's
// algorithm (UAX #9), for text without embeddings and isolates, which is all that names and descriptions are.

type Kind = 'L' | 'R' | 'AL' | 'EN' | 'AN' | 'ES' | 'ET' | 'CS' | 'NSM' | 'ON'

/** The first that fits. */
const kinds: readonly (readonly [Kind, RegExp])[] = [
  ['L', /\u200e/u],
  ['R', /\u200f/u],
  ['AL', /\u061c/u],
  ['AN', /[\u0600-\u0605\u0660-\u0669\u066b\u066c\u06dd\u08e2\u{10d30}-\u{10d39}]/u],
  ['EN', /[0-9\u00b2\u00b3\u00b9\u06f0-\u06f9\u2070\u2074-\u2079\u2080-\u2089\uff10-\uff19]/u],
  ['ES', /[+\-\u207a\u207b\u208a\u208b\u2212\ufb29]/u],
  ['CS', /[,./:\u00a0\u060c\u202f\u2044]/u],
  ['NSM', /[\p{Mn}\p{Me}\p{Cf}]/u],
  ['AL', /\ufdfc/u],
  ['ET', /[#%\u00b0\u00b1\u066a\u2030-\u2034\p{Sc}]/u],
  ['ON', /[\p{So}\p{Sm}\u06de\u06e9\u07f6-\u07f9\ufd3e\ufd3f]/u],
  ['AL', /[\u0608-\u06ff\u0700-\u07bf\u0860-\u08ff\ufb50-\ufdff\ufe70-\ufefc\u{1ec70}-\u{1eeff}]/u],
  ['R', /[\u0590-\u05ff\u07c0-\u085f\ufb1d-\ufb4f\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u],
  ['L', /[\p{L}\p{Mc}\p{Nd}\p{Nl}]/u],
]

function kindOf(character: string): Kind {
  return kinds.find(([, pattern]) => pattern.test(character))?.[0] ?? 'ON'
}

export interface Paragraph {
  readonly characters: readonly string[]
  /** How deep each is in text of the other direction: what is odd is read from right to left. */
  readonly levels: readonly number[]
  /** 1: as a whole it is read from right to left, as its first letter is. */
  readonly base: 0 | 1
}

export function paragraphOf(text: string): Paragraph {
  const characters = [...text]
  const found = characters.map(kindOf)
  const first = found.find((kind) => kind === 'L' || kind === 'R' || kind === 'AL')
  const base = first === undefined || first === 'L' ? 0 : 1
  const own: Kind = base === 1 ? 'R' : 'L'
  const known = withNeutrals(withBrackets(withNumbers(found, own), characters, own), own)
  return { characters, levels: known.map((kind) => levelIn(base, kind)), base }
}

function levelIn(base: 0 | 1, kind: Kind): number {
  if (base === 0) return kind === 'L' ? 0 : kind === 'R' ? 1 : 2
  return kind === 'R' ? 1 : 2
}

// What is no letter follows what is beside it

/** W1 to W7: marks, digits, and what stands in and around numbers. */
function withNumbers(found: readonly Kind[], own: Kind): readonly Kind[] {
  const all = [...found]
  let strong = own
  for (const [at, kind] of found.entries()) {
    if (kind === 'NSM') all[at] = all[at - 1] ?? own
    const now = all[at]!
    if (now === 'L' || now === 'R' || now === 'AL') strong = now
    if (now === 'EN' && strong === 'AL') all[at] = 'AN'
  }
  for (const [at, kind] of all.entries()) if (kind === 'AL') all[at] = 'R'
  for (const [at, kind] of all.entries()) {
    const [before, after] = [all[at - 1], all[at + 1]]
    const isWithin = before === after && (before === 'EN' || (before === 'AN' && kind === 'CS'))
    if ((kind === 'ES' || kind === 'CS') && isWithin) all[at] = before!
  }
  for (const [from, to] of stretches(all, ['ET'])) {
    if (all[from - 1] === 'EN' || all[to] === 'EN') all.fill('EN', from, to)
  }
  strong = own
  return all.map((kind) => {
    if (kind === 'L' || kind === 'R') strong = kind
    if (kind === 'EN') return strong === 'L' ? 'L' : 'EN'
    return kind === 'ES' || kind === 'ET' || kind === 'CS' ? 'ON' : kind
  })
}

/** Where some of these kinds stand together: the first of them, and the first behind them. */
function stretches(all: readonly Kind[], wanted: readonly Kind[]): readonly (readonly [number, number])[] {
  const found: [number, number][] = []
  for (const [at, kind] of all.entries()) {
    const last = found.at(-1)
    if (!wanted.includes(kind)) continue
    if (last && last[1] === at) last[1]++
    else found.push([at, at + 1])
  }
  return found
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** N0: both brackets of a pair go where what is in them goes. */
function withBrackets(found: readonly Kind[], characters: readonly string[], own: Kind): readonly Kind[] {
  const all = [...found]
  for (const [open, close] of pairsIn(found, characters)) {
    const inside = new Set<Kind | undefined>(all.slice(open + 1, close).map(directionOf))
    const before =
      all
        .slice(0, open)
        .map(directionOf)
        .findLast((one) => one !== undefined) ?? own
    const other = own === 'L' ? 'R' : 'L'
    const kind = inside.has(own) || (inside.has(other) && before === own) ? own : other
    if (inside.has(own) || inside.has(other)) all[open] = all[close] = kind
  }
  return all
}

type Pair = readonly [open: number, close: number]

function pairsIn(found: readonly Kind[], characters: readonly string[]): readonly Pair[] {
  const waiting: { readonly at: number; readonly closing: string }[] = []
  const pairs: [number, number][] = []
  for (const [at, character] of characters.entries()) {
    if (found[at] !== 'ON') continue
    if (closing[character]) waiting.push({ at, closing: closing[character] })
    const opened = waiting.findLastIndex((one) => one.closing === character)
    if (opened < 0) continue
    pairs.push([waiting[opened]!.at, at])
    waiting.length = opened
  }
  return pairs.toSorted(([one], [other]) => one - other)
}

/** Numbers stand in what is read from right to left. */
function directionOf(kind: Kind | undefined): 'L' | 'R' | undefined {
  if (kind === 'L') return 'L'
  return kind === 'R' || kind === 'EN' || kind === 'AN' ? 'R' : undefined
}

/** N1 and N2: between letters of one direction it is theirs, else that of the whole. */
function withNeutrals(found: readonly Kind[], own: Kind): readonly Kind[] {
  const all = [...found]
  for (const [from, to] of stretches(found, ['ON'])) {
    const [before, after] = [directionOf(all[from - 1]) ?? own, directionOf(all[to]) ?? own]
    all.fill(before === after ? before : own, from, to)
  }
  return all
}

// A line of it

export interface Run {
  readonly text: string
  readonly isRightToLeft: boolean
}

const mirrored: Readonly<Record<string, string>> = Object.fromEntries(
  ['()', '[]', '{}', '<>', '«»', '‹›'].flatMap(([one, other]) => [
    [one!, other!],
    [other!, one!],
  ]),
)

/** What stands together, from left to right as it is seen; the text of each as it is read. */
export function runsOf({ characters, levels, base }: Paragraph, from: number, to: number): readonly Run[] {
  // What a line ends in is at its end, however it is read.
  const end = characters.slice(0, to).findLastIndex((one, at) => at < from || !/\s/u.test(one)) + 1
  const runs: { level: number; text: string }[] = []
  for (let at = from; at < to; at++) {
    const level = at < end ? levels[at]! : base
    const text = level % 2 === 1 ? (mirrored[characters[at]!] ?? characters[at]!) : characters[at]!
    const last = runs.at(-1)
    if (last?.level === level) last.text += text
    else runs.push({ level, text })
  }
  return reordered(runs).map(({ level, text }) => ({ text, isRightToLeft: level % 2 === 1 }))
}

/** L2: from the deepest on, what is at least so deep is turned around. */
function reordered<One extends { readonly level: number }>(runs: readonly One[]): readonly One[] {
  let all = [...runs]
  for (let level = Math.max(0, ...runs.map((one) => one.level)); level > 0; level--) {
    const parts: One[][] = []
    for (const run of all) {
      const last = parts.at(-1)
      if (last && last[0]!.level >= level && run.level >= level) last.push(run)
      else parts.push([run])
    }
    all = parts.flatMap((part) => part.reverse())
  }
  return all
}
