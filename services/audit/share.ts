import { createHash } from 'node:crypto'
import type { Row } from '../../packages/kernel/projection.ts'

/** A part of all rows that fits into memory: each pass over the log looks after one. */
export interface Share {
  holds(key: string): boolean
}

export function sharesOf(count: number): readonly Share[] {
  if (count <= 1) return [{ holds: () => true }]
  return Array.from({ length: count }, (_, index) => ({
    holds: (key: string) => numberOf(key) % count === index,
  }))
}

function numberOf(key: string): number {
  return createHash('sha1').update(key).digest().readUInt32LE(0)
}

export function keyOf(row: Row, columns: readonly string[]): string {
  return JSON.stringify(columns.map((column) => row[column]))
}
