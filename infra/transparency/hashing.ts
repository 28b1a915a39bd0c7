import { hash } from 'node:crypto'

/** Hashes of RFC 6962, 2.1: a leaf can never be taken for an inner node or the reverse. */

export const hashBytes = 32

const leafPrefix = 0
const nodePrefix = 1

/** Hashes are computed one at a time, and a third faster when their input reuses its memory. */
const usualLeaf = Buffer.alloc(1 + hashBytes, leafPrefix)
const node = Buffer.alloc(1 + 2 * hashBytes, nodePrefix)

export function sha256(bytes: Uint8Array | string): Buffer {
  const digest = Buffer.allocUnsafe(hashBytes)
  sha256Into(digest, 0, bytes)
  return digest
}

/**
 * Written into memory that is there: half of what a hash costs is the buffer that it comes in. The library's
 * own buffers cost most.
 */
export function sha256Into(into: Buffer, at: number, bytes: Uint8Array | string): void {
  into.write(hash('sha256', bytes, 'binary'), at, hashBytes, 'latin1')
}

/** Entries are usually commitments. */
export function leafHash(entry: Uint8Array): Buffer {
  return sha256(leafOf(entry))
}

export function leafHashInto(into: Buffer, at: number, entry: Uint8Array): void {
  sha256Into(into, at, leafOf(entry))
}

function leafOf(entry: Uint8Array): Buffer {
  const leaf = entry.length === hashBytes ? usualLeaf : Buffer.alloc(1 + entry.length, leafPrefix)
  leaf.set(entry, 1)
  return leaf
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  if (left.length !== hashBytes || right.length !== hashBytes)
    throw new RangeError(`a node joins two hashes of ${hashBytes} bytes`)
  node.set(left, 1)
  node.set(right, 1 + hashBytes)
  return sha256(node)
}

/** The root of a tree without leaves. */
export const emptyRoot = sha256('')

/**
 * The root over adjacent subtrees of one size, whose roots stand one behind the other. The last one may be
 * smaller: where their number is odd, it moves up as it is.
 */
export function rootOver(roots: Buffer): Buffer {
  if (roots.length === 0) return emptyRoot
  const level = Buffer.from(roots)
  let length = level.length
  while (length > hashBytes) {
    let end = 0
    for (let from = 0; from < length; from += 2 * hashBytes, end += hashBytes) {
      const isPair = level.copy(node, 1, from, Math.min(length, from + 2 * hashBytes)) > hashBytes
      if (isPair) sha256Into(level, end, node)
      else level.copyWithin(end, from, from + hashBytes)
    }
    length = end
  }
  return level.subarray(0, hashBytes)
}

/** How many of `size` leaves are left of the root: the largest power of two below it. */
export function leftOf(size: number): number {
  let left = 1
  while (left * 2 < size) left *= 2
  return left
}
