import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { TSchema } from '../../../packages/contract/vocabulary.ts'

const ajv = new Ajv2020({ strict: false, allErrors: true })
// The package is CommonJS: its default export is the module itself for Node, a namespace for TypeScript.
const addFormats = formats as unknown as (ajv: Ajv2020) => void
addFormats(ajv)

/** Where a value does not match its schema; an empty list for a valid one. */
export function schemaFaults(schema: TSchema, value: unknown): readonly unknown[] {
  ajv.validate(schema, value)
  return ajv.errors ?? []
}
