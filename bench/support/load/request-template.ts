import { randomBytes } from 'node:crypto'
import type { Answer } from './connection.ts'
import { expect, type Flow } from './flow.ts'

/** One request of a unit of work, as described in a file; every string may contain placeholders. */
export interface RequestTemplate {
  readonly method: string
  /** Appended to the path of the base URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Expected status; anything else ends the run. */
  readonly status: number
}

export interface TemplatePlan {
  readonly flow: 'template'
  /** Sent one after the other. */
  readonly requests: readonly RequestTemplate[]
  readonly host: string
  /** Path of the base URL, without a slash at the end. */
  readonly prefix: string
}

/** Values of one unit's placeholders. */
interface Unit {
  readonly number: number
  readonly unique: string
  answer: unknown
}

/** Sends requests described in a file, so that other services can be given the same load. */
export function templateFlow({ requests, host, prefix }: TemplatePlan): Flow {
  const run = randomBytes(6).toString('hex')
  let count = 0
  return function* () {
    const number = count++
    const unit: Unit = { number, unique: `${run}-${number}`, answer: undefined }
    for (const { method, path, headers = {}, body, status } of requests) {
      const text = body === undefined ? '' : filled(JSON.stringify(body), unit)
      const heads = { Host: host, ...headers, ...(text && { 'Content-Type': 'application/json' }) }
      const lines = Object.entries(heads).map(([name, value]) => `${name}: ${filled(value, unit)}\r\n`)
      const length = `Content-Length: ${Buffer.byteLength(text)}\r\n`
      const address = prefix + filled(path, unit)
      const answer: Answer = yield `${method} ${address} HTTP/1.1\r\n${lines.join('')}${length}\r\n${text}`
      expect(answer, status)
      unit.answer = parsed(answer.body)
    }
  }
}

/**
 * `{{unique}}` was never used before, `{{number}}` counts from 0, `{{random:1000}}` is below 1000, and
 * `{{answer.id}}` is a field of the last answer.
 */
function filled(text: string, unit: Unit): string {
  return text.replace(/\{\{(\w+)(?:[.:]([\w.]+))?\}\}/g, (placeholder, name: string, rest = '') => {
    if (name === 'unique') return unit.unique
    if (name === 'number') return String(unit.number)
    if (name === 'random') return String(Math.floor(Math.random() * Number(rest)))
    if (name === 'answer') return field(unit.answer, String(rest))
    throw new Error(`${placeholder} is not known: unique, number, random:<below>, answer.<field>`)
  })
}

function field(answer: unknown, path: string): string {
  const value = path
    .split('.')
    .reduce((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], answer)
  if (value === undefined || value === null) throw new Error(`the answer has no field ${path}`)
  return String(value)
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
