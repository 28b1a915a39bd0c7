import {
  Ajv2020,
  type ErrorObject,
  type FuncKeywordDefinition,
  type ValidateFunction,
} from 'ajv/dist/2020.js'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import formats from 'ajv-formats'
import { anyIdentity } from '../../../../packages/contract/identity.ts'
import { refuse, type Fault } from '../../../../packages/contract/refusals.ts'
import type { TSchema } from '../../../../packages/contract/vocabulary.ts'
import { faultMessage } from './fault-messages.ts'
import { forInput, inputFormats, instantOf, typedQuery } from './input-formats.ts'

type Normalise = (text: string, schema: { readonly enum?: readonly (string | null)[] }) => string

const fold = (text: string) => text.toLowerCase().replace(/[-_ ]/g, '')

/** How input is normalised before it is checked. */
const normalisations: Readonly<Record<string, Normalise>> = {
  upper: (text) => text.toUpperCase(),
  choice: (text, schema) =>
    schema.enum?.find((value) => value !== null && fold(value) === fold(text)) ?? text,
  msisdn: (text) => text.replace(/(?<=[\d+])[ .()-]+(?=\d)/g, ''),
  uuid: (text) => anyIdentity(text) ?? text,
  instant: (text) => instantOf(text) ?? text,
}

/** Other names under which existing clients send a field. */
const aliases: FuncKeywordDefinition = {
  keyword: 'x-aliases',
  type: 'object',
  modifying: true,
  // Required fields are looked for under their own name.
  before: 'maxProperties',
  compile: (known: Readonly<Record<string, string>>) => (value: Record<string, unknown>) => {
    for (const [alias, name] of Object.entries(known)) {
      if (!(alias in value) || name in value) continue
      value[name] = value[alias]
      delete value[alias]
    }
    return true
  },
}

function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    useDefaults: true,
    verbose: true,
    strictTypes: false,
  })
  // The package is CommonJS: its default export is the module itself for Node, and a namespace for
  // TypeScript.
  const addFormats = formats as unknown as (ajv: Ajv2020) => void
  addFormats(ajv)
  for (const [name, check] of Object.entries(inputFormats)) ajv.addFormat(name, check)
  ajv.addVocabulary(['x-expected', 'x-name'])
  ajv.addKeyword(aliases)
  ajv.addKeyword({
    keyword: 'x-normalize',
    modifying: true,
    // Keywords for all types run before those for strings, so this one runs before `enum` and checks the type
    // itself.
    before: 'enum',
    compile: (name: string, schema) => (value: unknown, place?: DataValidationCxt) => {
      if (!place || typeof value !== 'string') return true
      place.parentData[place.parentDataProperty] = normalisations[name]!(
        value,
        schema as { enum?: readonly string[] },
      )
      return true
    },
  })
  return ajv
}

const ajv = newAjv()

// Compiling is slow, so each schema is compiled on first use.
const compiled = new WeakMap<TSchema, ValidateFunction>()

function validator(schema: TSchema): ValidateFunction {
  let validate = compiled.get(schema)
  if (!validate) compiled.set(schema, (validate = ajv.compile(forInput(schema))))
  return validate
}

/** Checks a body and normalises its values. Refuses with every fault, the first one first. */
export function checkBody(schema: TSchema, body: unknown): void {
  check(validator(schema), body, '')
}

/** The same for query parameters, which arrive as texts; returns them with their types. */
export function checkQuery(
  schema: TSchema,
  texts: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const query = typedQuery(schema, texts)
  check(validator(schema), query, 'query:')
  return query
}

function check(validate: ValidateFunction, value: unknown, place: '' | 'query:'): void {
  if (validate(value)) return
  const faults = (validate.errors ?? []).map((error) => fault(error, place))
  const first = faults.find(({ code }) => code !== 'anyOf') ?? faults[0]
  const shown = [first!, ...faults.filter((one) => one !== first && one.code !== 'anyOf')].slice(0, 20)
  refuse('request_must_be_valid', { faults: shown })
}

function fault(error: ErrorObject, place: '' | 'query:'): Fault {
  const { keyword, instancePath, data } = error
  const { missingProperty, additionalProperty } = error.params as Readonly<Record<string, string | undefined>>
  const inner = missingProperty ?? additionalProperty
  // A query parameter is one text, also where it holds several values.
  const at = place === 'query:' ? instancePath.replace(/(?<=.)\/.*$/, '') : instancePath
  const pointer = `${place}${at}${inner === undefined ? '' : `/${inner}`}`
  // A missing body lacks every field.
  if (keyword === 'type' && data === undefined) return { pointer, code: 'required', message: 'is required' }
  const code = additionalProperty === undefined ? keyword : 'unknown'
  return { pointer, code, message: faultMessage(error) }
}
