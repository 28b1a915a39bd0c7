import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'

const depthMax = 20

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses JSON; refuses what is too deep, ambiguous or would be changed by parsing. */
export function parseJson(bytes: Buffer): unknown {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(bytes)
  } catch {
    refuse('body_must_be_json', { detail: 'Body is not UTF-8' })
  }
  try {
    value = JSON.parse(text)
  } catch (error) {
    refuse('body_must_be_json', { detail: `Body is not JSON: ${(error as Error).message.slice(0, 200)}` })
  }
  checkStructure(text)
  return value
}

interface Level {
  /** The member names of an object; `undefined` for an array. */
  readonly names: Set<string> | undefined
  /** Which member or item is being read. */
  at: string | number
}

const stringToken = /"(?:[^"\\]|\\.)*"/y
const numberToken = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const numberCharactersMax = 100
/** No parser rounds a number with this many digits. */
const shortInteger = /^-?\d{1,15}$/

/**
 * JSON.parse keeps the last of two equal names and accepts any depth; a payment must not depend on which of
 * two amounts a parser prefers. The text is known to be valid JSON, so only strings, numbers and brackets
 * matter.
 */
function checkStructure(text: string): void {
  const levels: Level[] = []
  let isName = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      stringToken.lastIndex = at
      const token = stringToken.exec(text)![0]
      at += token.length - 1
      if (isName) addName(levels, token)
      checkText(token, levels)
      isName = false
    } else if (character === '{' || character === '[') {
      levels.push(character === '{' ? { names: new Set(), at: '' } : { names: undefined, at: 0 })
      if (levels.length > depthMax)
        refuse('body_must_be_json', { detail: `Body is nested more than ${depthMax} levels deep` })
      isName = character === '{'
    } else if (character === '}' || character === ']') {
      levels.pop()
      isName = false
    } else if (character === ',') {
      const level = levels.at(-1)!
      isName = level.names !== undefined
      if (!isName) (level.at as number)++
    } else if (character === '-' || (character! >= '0' && character! <= '9')) {
      numberToken.lastIndex = at
      const token = numberToken.exec(text)![0]
      at += token.length - 1
      checkNumber(token, levels)
    }
  }
}

/** What no database stores is refused here, so that it fails nowhere else. */
function checkText(token: string, levels: readonly Level[]): void {
  if (!token.includes('\\')) return
  const text = textOf(token)
  if (text.includes('\0')) refuseAt(levels, 'Text must not contain the character U+0000')
  if (!text.isWellFormed()) refuseAt(levels, 'Text must not contain half of a surrogate pair')
}

function refuseAt(levels: readonly Level[], message: string): never {
  refuseField('request_must_be_valid', levels.map(({ at }) => `/${partOf(at)}`).join(''), message)
}

/** RFC 6901. A name that no answer can contain is shown as far as it can be. */
function partOf(at: string | number): string {
  return String(at).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')
}

function textOf(token: string): string {
  return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1)
}

function addName(levels: readonly Level[], token: string): void {
  const level = levels.at(-1)!
  const name = textOf(token)
  level.at = name
  if (name === '__proto__') refuse('body_must_be_json', { detail: 'Body has a member named __proto__' })
  if (level.names?.has(name)) refuse('body_must_be_json', { detail: `Body has the member "${name}" twice` })
  level.names?.add(name)
}

/** 4999.9999999999999999 parses as 5000: what was not written is not paid. */
function checkNumber(token: string, levels: readonly Level[]): void {
  if (shortInteger.test(token)) return
  if (token.length > numberCharactersMax)
    refuseAt(levels, `A number has more than ${numberCharactersMax} characters`)
  if (decimalOf(token) !== decimalOf(String(Number(token))))
    refuseAt(levels, `The number ${token} cannot be kept exactly`)
}

/** Digits and exponent, the same for all spellings of a number. */
function decimalOf(text: string): string | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  if (short === '') return '0'
  return `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`
}
