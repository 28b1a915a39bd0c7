import bidiFactory from 'bidi-js'

// In which order a line is drawn whose letters are read from right to left, or in both directions: Unicode's
// algorithm (UAX #9).

/** Its types are those of an ES module, which it is not for Node. */
const bidi = (bidiFactory as unknown as typeof bidiFactory.default)()

export interface Paragraph {
  readonly characters: readonly string[]
  /** How deep each is in text of the other direction: what is odd is read from right to left. */
  readonly levels: readonly number[]
  /** 1: as a whole it is read from right to left, as its first letter is. */
  readonly base: number
}

export function paragraphOf(text: string): Paragraph {
  const { levels, paragraphs } = bidi.getEmbeddingLevels(text)
  const characters = [...text]
  let next = 0
  const levelOf = (character: string) => {
    const level = levels[next]!
    next += character.length
    return level
  }
  return { characters, levels: characters.map(levelOf), base: paragraphs[0]?.level ?? 0 }
}

export interface Run {
  readonly text: string
  readonly isRightToLeft: boolean
}

/** What stands together, from left to right as it is seen; the text of each as it is read. */
export function runsOf({ characters, levels, base }: Paragraph, from: number, to: number): readonly Run[] {
  // What a line ends in is at its end, however it is read.
  const end = characters.slice(0, to).findLastIndex((one, at) => at < from || !/\s/u.test(one)) + 1
  const runs: { level: number; text: string }[] = []
  for (let at = from; at < to; at++) {
    const level = at < end ? levels[at]! : base
    const text = level % 2 === 1 ? mirrored(characters[at]!) : characters[at]!
    const last = runs.at(-1)
    if (last?.level === level) last.text += text
    else runs.push({ level, text })
  }
  return reordered(runs).map(({ level, text }) => ({ text, isRightToLeft: level % 2 === 1 }))
}

function mirrored(character: string): string {
  return bidi.getMirroredCharacter(character) ?? character
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
