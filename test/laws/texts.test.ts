import t from 'tap'
import { routes } from '../../services/families.ts'
import { lawOver } from '../support/law.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** What somebody writes for others to read. */
const read = /^(name|.*_name|.*Name|label|nickname|description|reason|url)$/

function textsIn(schema: Schema, path = ''): readonly { readonly path: string; readonly schema: Schema }[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const texts = branchesOf(property).filter(({ type, enum: known }) => isText(type) && !known)
    const found = read.test(name) ? texts.map((one) => ({ path: `${path}/${name}`, schema: one })) : []
    return [...found, ...textsIn(property, `${path}/${name}`)]
  })
  const inner = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]
  return [...own, ...inner.flatMap((one) => textsIn(one, path))]
}

function branchesOf(schema: Schema): readonly Schema[] {
  return schema.anyOf ? schema.anyOf.flatMap(branchesOf) : [schema]
}

function isText(type: Schema['type']): boolean {
  return type === 'string' || (Array.isArray(type) && type.includes('string'))
}

t.test('what people read cannot be turned around by what it contains', async (t) => {
  const texts = routes.flatMap(({ operation, body }) =>
    body ? textsIn(body as Schema).map((text) => ({ operation, ...text })) : [],
  )
  await lawOver(t, texts, async ({ operation, path, schema: { pattern } }) => {
    const isRefused = (text: string) => pattern !== undefined && !new RegExp(pattern).test(text)
    for (const text of ['Lamp \u202e moc', 'Lamp \u2066 moc', 'Lamp \u0007', 'Lamp \u009b2J'])
      t.ok(isRefused(text), `${operation} ${path}: ${JSON.stringify(text)}`)
    t.notOk(isRefused("Lampe d'été 太陽 🌞"), `${operation} ${path}`)
  })
})
