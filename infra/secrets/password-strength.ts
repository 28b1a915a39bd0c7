import { lateModule } from '../os/late-module.ts'

/** Of zxcvbn's scores from 0 to 4: 3 is safe against somebody who can try ten thousand a second. */
const leastScore = 3
/** What stands behind it makes nothing weaker, but takes long to look at. */
const charactersLookedAt = 64

type IsWeak = (password: string, known: readonly string[]) => boolean

// Dictionaries of passwords, names and words take a moment to load, so the first question loads them.
const core = lateModule<typeof import('@zxcvbn-ts/core')>('@zxcvbn-ts/core')
const common = lateModule<typeof import('@zxcvbn-ts/language-common')>('@zxcvbn-ts/language-common')
const ofEnglish = lateModule<typeof import('@zxcvbn-ts/language-en')>('@zxcvbn-ts/language-en')
const ofFrench = lateModule<typeof import('@zxcvbn-ts/language-fr')>('@zxcvbn-ts/language-fr')

let loaded: IsWeak | undefined

export function guesser(): IsWeak {
  return (loaded ??= load())
}

function load(): IsWeak {
  const [{ ZxcvbnFactory }, usual, english, french] = [core(), common(), ofEnglish(), ofFrench()]
  const dictionary = { ...usual.dictionary, ...english.dictionary, ...french.dictionary }
  const guesses = new ZxcvbnFactory({ dictionary, graphs: usual.adjacencyGraphs })
  return (password, known) =>
    guesses.check(password.slice(0, charactersLookedAt), [...known]).score < leastScore
}
