import { createHash } from 'node:crypto'

/** Hashes of RFC 6962, 2.1: a leaf and an inner node can never be taken for each other. */

export const hashBytes = 32

const leafPrefix = Buffer.of(0)
const nodePrefix = Buffer.of(1)

export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export function leafHash(entry: Uint8Array): Buffer {
  return sha256(leafPrefix, entry)
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(nodePrefix, left, right)
}

/** The root of a tree without leaves. */
export const emptyRoot = sha256()

/** The root over subtrees that stand side by side; only the last one may be smaller than the others. */
export function rootOver(subtrees: readonly Buffer[]): Buffer {
  if (subtrees.length === 0) return emptyRoot
  if (subtrees.length === 1) return subtrees[0]!
  const left = leftOf(subtrees.length)
  return nodeHash(rootOver(subtrees.slice(0, left)), rootOver(subtrees.slice(left)))
}

/** How many of `size` leaves stand left of the root: the largest power of two below it. */
export function leftOf(size: number): number {
  let left = 1
  while (left * 2 < size) left *= 2
  return left
}
