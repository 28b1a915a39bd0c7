import type { ReadModel } from '../../packages/kernel/projection.ts'

export interface Difference {
  readonly model: string
  /** The key of the row; empty when it is about the read model as a whole. */
  readonly row: string
  readonly problem: string
  /** Left out when it is not about the value of one column. */
  readonly column?: string
  /** A state that is no fault of the row: parked events and rebuilds have signs of their own. */
  readonly isToldElsewhere?: true
}

export interface Compared {
  readonly name: string
  /** It was compared as of here. */
  readonly position: number
  readonly rows: number
  readonly differences: number
}

export interface Comparison {
  readonly models: readonly Compared[]
  readonly differences: readonly Difference[]
  /** Of each read model, rows that differ by what was erased while they were compared. */
  readonly unsettled: ReadonlyMap<string, number>
}

/** So many of each read model are named: where all rows are wrong, more would take all memory. */
const namedMax = 1_000

/** What is found in all read models. */
export class Differences {
  readonly #found: Difference[] = []
  /** What is told elsewhere is counted by itself, so that it hides nothing and alarms nobody. */
  readonly #counts = new Map<string, { readonly of: Difference; count: number }>()
  readonly #unsettled = new Map<string, number>()
  readonly #models: Map<string, { name: string; position: number; rows: number; differences: number }>

  constructor(models: readonly ReadModel[]) {
    const none = { position: 0, rows: 0, differences: 0 }
    this.#models = new Map(models.map(({ name }) => [name, { name, ...none }]))
  }

  stand(model: string, position: number): void {
    this.#models.get(model)!.position = position
  }

  count(model: string): void {
    this.#models.get(model)!.rows++
  }

  /** Nothing can be said about a row: somebody in it was erased meanwhile. */
  leave(model: string): void {
    this.#unsettled.set(model, (this.#unsettled.get(model) ?? 0) + 1)
  }

  /** What is about a whole read model is found again in each pass, and named once. */
  add(found: Difference): void {
    const isWhole = found.row === ''
    const isKnown =
      isWhole && this.#found.some(({ model, problem }) => model === found.model && problem === found.problem)
    if (isKnown) return
    this.#models.get(found.model)!.differences++
    const kind = `${found.model}${found.isToldElsewhere ? ', told elsewhere' : ''}`
    const known = this.#counts.get(kind) ?? { of: found, count: 0 }
    this.#counts.set(kind, known)
    if (++known.count <= namedMax) this.#found.push(found)
  }

  result(): Comparison {
    const models = [...this.#models.values()]
    const unnamed = [...this.#counts.values()]
      .filter(({ count }) => count > namedMax)
      .map(({ of: { model, isToldElsewhere }, count }) => ({
        model,
        row: '',
        problem: `and ${count - namedMax} more differences`,
        ...(isToldElsewhere && { isToldElsewhere }),
      }))
    return { models, differences: [...this.#found, ...unnamed], unsettled: this.#unsettled }
  }
}
