/**
 * What happened last, by id: two generations as plain data, so that they survive a snapshot. Ids are kept as
 * numbers, which take a third of the memory of their text: thousands of merchants have a thousand each.
 */
export interface Recent<What> {
  young: Generation<What>
  old: Generation<What>
}

interface Generation<What> {
  /** Three numbers for each id. */
  readonly ids: number[]
  /** What is remembered of each. */
  readonly values: What[]
}

/** At least so many ids are remembered, and at most twice as many. */
const remembered = 1_000
const numbersPerId = 3

export function nothingRecent<What>(): Recent<What> {
  return { young: nothing(), old: nothing() }
}

/** Throws for an id that is no UUID. */
export function remember<What>(recent: Recent<What>, id: string, what: What): void {
  if (recent.young.values.length === remembered) {
    recent.old = recent.young
    recent.young = nothing()
  }
  recent.young.ids.push(...numbersOf(id))
  recent.young.values.push(what)
}

export function recall<What>({ young, old }: Recent<What>, id: string): What | undefined {
  const numbers = numbersOf(id)
  return find(young, numbers) ?? find(old, numbers)
}

function nothing<What>(): Generation<What> {
  return { ids: [], values: [] }
}

/** The newest first: what is asked for again was mostly done a moment ago. */
function find<What>({ ids, values }: Generation<What>, [first, second, third]: Numbers): What | undefined {
  for (let at = ids.length - numbersPerId; at >= 0; at -= numbersPerId) {
    if (ids[at + 2] === third && ids[at] === first && ids[at + 1] === second) return values[at / numbersPerId]
  }
  return undefined
}

type Numbers = readonly [first: number, second: number, third: number]

/** 48, 32 and 48 of its 128 bits: a number holds 53. */
function numbersOf(id: string): Numbers {
  const [, first, second, third, fourth, last] = uuid.exec(id) ?? []
  if (last === undefined) throw new Error(`"${id}" is no UUID`)
  return [
    Number.parseInt(`${first}${second}`, 16),
    Number.parseInt(`${third}${fourth}`, 16),
    Number.parseInt(last, 16),
  ]
}

const uuid = /^([\da-f]{8})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})-([\da-f]{12})$/
