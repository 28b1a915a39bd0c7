/** Between quotes as it is: ASCII without control characters, quotes and backslashes. */
const plain = /^[ !#-[\]-~]*$/

/** Objects whose members are named the same in the same order, such as all events of a type. */
interface Shape {
  readonly longer: Map<string, Shape>
  /** Members as they are written: sorted, with their names as JSON. Found once it is needed. */
  members?: readonly Member[]
}

interface Member {
  readonly name: string
  /** What stands before it, as the first member and as a later one. */
  readonly first: string
  readonly next: string
}

/** Merchants name their own metadata: all shapes are forgotten before they take much memory. */
const shapesMax = 10_000
let shapes = 0
let shapeless: Shape = { longer: new Map() }

/** Canonical JSON (RFC 8785). Much faster than the package `canonicalize`, with which a test compares it. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return textJson(value)
  // Most numbers are amounts, and minus zero is written as zero.
  if (Number.isSafeInteger(value)) return String(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  return objectJson(value as Readonly<Record<string, unknown>>)
}

function textJson(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

function objectJson(object: Readonly<Record<string, unknown>>): string {
  let json = ''
  for (const { name, first, next } of membersOf(Object.keys(object))) {
    const member = object[name]
    if (member !== undefined) json += (json ? next : first) + canonicalJson(member)
  }
  return json ? `${json}}` : '{}'
}

/** Sorting takes longer than all the rest, and few shapes are new. */
function membersOf(names: readonly string[]): readonly Member[] {
  let shape = shapeless
  for (const name of names) shape = shape.longer.get(name) ?? longerBy(name, shape)
  shape.members ??= names.toSorted().map(memberOf)
  return shape.members
}

function memberOf(name: string): Member {
  const label = `${JSON.stringify(name)}:`
  return { name, first: `{${label}`, next: `,${label}` }
}

function longerBy(name: string, shape: Shape): Shape {
  if (++shapes > shapesMax) {
    shapes = 0
    shapeless = { longer: new Map() }
  }
  const longer: Shape = { longer: new Map() }
  shape.longer.set(name, longer)
  return longer
}
