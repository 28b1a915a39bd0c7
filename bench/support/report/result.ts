import type { Row } from './contest.ts'

/** A row as stored in `results.json`. A row that could not be measured has only its name, unit and note. */
export interface Result {
  readonly name: string
  readonly ours: number | null
  readonly peer: number | null
  readonly ratio: number | null
  readonly unit: string
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  readonly note: string
  /** Why the target is missed, whatever the value is. */
  readonly missed?: string
  /** The day and the commit of the run. */
  readonly run?: string
}

export interface Report {
  readonly facts: Readonly<Record<string, string>>
  readonly results: readonly { readonly row: Row; readonly result: Result }[]
}

export function isReached(row: Row, { ours, peer, ratio, missed }: Result): boolean {
  if (missed !== undefined || ratio === null || ours === null || peer === null) return false
  const { target, valueLeast = -Infinity, valueMost = Infinity, peerMost = Infinity } = row
  if (!target) return false
  const within = 'least' in target ? ratio >= target.least : ratio <= target.most
  return within && ours >= valueLeast && ours <= valueMost && peer <= peerMost
}

export function targetOf({ target, valueLeast, valueMost, peerMost, unit }: Row): string {
  if (valueMost !== undefined)
    return `<= ${number(valueMost)} ${unit}, peer <= ${number(peerMost ?? null)} ${unit}`
  if (!target) return '–'
  const ratio = 'least' in target ? `>= ${target.least}` : `<= ${target.most}`
  return valueLeast === undefined ? ratio : `${ratio}, ${number(valueLeast)} ${unit}`
}

/** Rounded to three significant digits. */
export function number(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–'
  if (value >= 1_000) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}
