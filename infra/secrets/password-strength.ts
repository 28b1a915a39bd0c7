/** Of zxcvbn's scores from 0 to 4: 3 is safe against somebody who can try ten thousand a second. */
const leastScore = 3
/** What stands behind it makes nothing weaker, but takes long to look at. */
const charactersLookedAt = 64

type IsWeak = (password: string, known: readonly string[]) => boolean

let loaded: Promise<IsWeak> | undefined

/** Dictionaries of passwords, names and words take a moment to load, so the first question loads them. */
export function guesser(): Promise<IsWeak> {
  loaded ??= load().catch((error: unknown) => {
    loaded = undefined
    throw error
  })
  return loaded
}

async function load(): Promise<IsWeak> {
  const [{ ZxcvbnFactory }, usual, english, french] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
    import('@zxcvbn-ts/language-fr'),
  ])
  const dictionary = { ...usual.dictionary, ...english.dictionary, ...french.dictionary }
  const guesses = new ZxcvbnFactory({ dictionary, graphs: usual.adjacencyGraphs })
  return (password, known) =>
    guesses.check(password.slice(0, charactersLookedAt), [...known]).score < leastScore
}
