import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { tileWidth } from '../../transparency/tiles.ts'
import { Batcher } from '../client/batcher.ts'
import { leafRunsAt, type LeafRun } from './tree-store.ts'

/** Together they cover some five million events of a log without gaps, and this many of one with gaps. */
const spansKept = 20_000

/** Finds the leaf of the event at a log position; `undefined` while it has none. */
export function leafIndexes(pool: pg.Pool): (position: number) => Promise<number | undefined> {
  // A leaf never moves.
  const known = new LRUCache<number, readonly LeafRun[]>({ max: spansKept })
  const looking = new Batcher<number, LeafRun | undefined>((positions) => leafRunsAt(pool, positions))

  return async (position) => {
    const run = known.get(spanOf(position))?.find((one) => holds(one, position))
    if (run) return leafIn(run, position)
    const found = await looking.enqueue(position)
    if (!found) return undefined
    for (let span = spanOf(found.first); span <= spanOf(found.last); span++) keep(span, found)
    return leafIn(found, position)
  }

  /** Runs that bundles have grown into replace those they were. */
  function keep(span: number, run: LeafRun): void {
    const others = known.get(span)?.filter(({ first }) => first !== run.first) ?? []
    known.set(span, [...others, run])
  }
}

/** Runs are shorter than a bundle, so each lies in two spans at most. */
function spanOf(position: number): number {
  return Math.floor(position / tileWidth)
}

function holds({ first, last }: LeafRun, position: number): boolean {
  return first <= position && position <= last
}

function leafIn({ first, leaf }: LeafRun, position: number): number {
  return leaf + position - first
}
