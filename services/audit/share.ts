import { createHash } from 'node:crypto'
import type { Row } from '../../packages/kernel/projection.ts'

/** A part of all rows that fits into memory: each pass over the log looks after one. */
export interface Share {
  holds(key: string): boolean
}

export function sharesOf(count: number): readonly Share[] {
  return Array.from({ length: Math.max(1, count) }, (_, index) => ({
    holds: (key: string) => shareOf(key, count) === index,
  }))
}

/** Which of so many shares looks after a row. */
export function shareOf(key: string, count: number): number {
  return count <= 1 ? 0 : numberOf(key) % count
}

function numberOf(key: string): number {
  return createHash('sha1').update(key).digest().readUInt32LE(0)
}

export function keyOf(row: Row, columns: readonly string[]): string {
  return JSON.stringify(columns.map((column) => row[column]))
}
