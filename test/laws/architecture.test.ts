import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

const layers = [
  'packages/kernel',
  'packages/contract',
  'packages/domain',
  'projections',
  'infra',
  'services',
  'bench',
  'test',
] as const
type Layer = (typeof layers)[number]

/** Who may import whom, beside itself. */
const mayImport: Record<Layer, readonly Layer[]> = {
  'packages/kernel': [],
  'packages/contract': ['packages/kernel'],
  'packages/domain': ['packages/kernel', 'packages/contract'],
  projections: ['packages/kernel', 'packages/contract', 'packages/domain'],
  infra: ['packages/kernel', 'packages/contract'],
  services: ['packages/kernel', 'packages/contract', 'packages/domain', 'projections', 'infra'],
  bench: [
    'packages/kernel',
    'packages/contract',
    'packages/domain',
    'projections',
    'infra',
    'services',
    'test',
  ],
  test: [
    'packages/kernel',
    'packages/contract',
    'packages/domain',
    'projections',
    'infra',
    'services',
    'bench',
  ],
}

/** Libraries that are seen from one place only; everything else reaches them through a port. */
const homes: Readonly<Record<string, RegExp>> = {
  express: /^services\/api\//,
  knex: /^infra\/(postgres|event-store\/embedded)/,
  pg: /^infra\/(postgres|event-store\/embedded)/,
  kafkajs: /^infra\/event-bus\//,
  '@eventstore/db-client': /^infra\/event-store\//,
  commander: /^services\/cli\//,
  'temporal-polyfill': /^packages\/kernel\/time\/(recurrence|calendar)/,
  'csv-parse': /^infra\/statements\//,
  'csv-stringify': /^(infra\/exports|services\/cli)\//,
  xmlbuilder2: /^infra\/exports\//,
  pdfkit: /^services\/api\/pages\//,
  qrcode: /^services\/api\/pages\//,
  '@opentelemetry/api': /^infra\/telemetry\//,
  '@opentelemetry/sdk-node': /^infra\/telemetry\//,
  '@opentelemetry/exporter-metrics-otlp-proto': /^infra\/telemetry\//,
}

/** Pure: what may be imported from outside at all. */
const pure: Readonly<Partial<Record<Layer, RegExp>>> = {
  'packages/kernel': /^(@sinclair\/typebox|temporal-polyfill)$/,
  'packages/contract': /^(@sinclair\/typebox|node:crypto)$/,
  'packages/domain': /^$/,
  projections: /^$/,
}

interface Source {
  readonly path: string
  readonly layer: Layer
  readonly text: string
  readonly tree: ts.SourceFile
  readonly imports: readonly Import[]
}

interface Import {
  readonly from: string
  readonly typeOnly: boolean
}

const sources: readonly Source[] = layers.flatMap((layer) =>
  readdirSync(join(root, layer), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => source(join(layer, name), layer)),
)

function source(path: string, layer: Layer): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const imports = tree.statements.flatMap((statement): Import[] => {
    const isImport = ts.isImportDeclaration(statement)
    if (!isImport && !ts.isExportDeclaration(statement)) return []
    const specifier = statement.moduleSpecifier
    if (!specifier || !ts.isStringLiteral(specifier)) return []
    const typeOnly = isImport ? Boolean(statement.importClause?.isTypeOnly) : statement.isTypeOnly
    return [{ from: specifier.text, typeOnly }]
  })
  for (const [, from] of text.matchAll(/\blateModule<[^]*?>\(\s*'([^']+)'/g))
    imports.push({ from: from!, typeOnly: false })
  return { path, layer, text, tree, imports }
}

const targetOf = ({ path }: Source, from: string) => relative('.', join(dirname(path), from))
const layerOf = (path: string) => layers.find((layer) => path.startsWith(`${layer}/`))
const packageOf = (from: string) =>
  from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/')
const ours = (from: string) => from.startsWith('.')

/** What goes to production. */
const shipped = sources.filter(({ layer }) => layer !== 'test' && layer !== 'bench')
const ofServices = sources.filter(({ layer }) => layer === 'services')
const ofTheDomain = sources.filter(({ layer }) => layer === 'packages/domain')

/** Imports of our own files, each with the file that it names. */
const ownImports = (files: readonly Source[]) =>
  files.flatMap((file) =>
    file.imports
      .filter(({ from }) => ours(from))
      .map(({ from, typeOnly }) => ({ file, from, typeOnly, target: targetOf(file, from) })),
  )

t.test('a layer imports only the layers below it', async (t) => {
  await lawOver(t, ownImports(sources), ({ file, from, target }) => {
    const layer = layerOf(target)
    const isBelow = layer && mayImport[file.layer].includes(layer)
    t.ok(layer === file.layer || isBelow, `${file.path} may import ${from}`)
  })
})

t.test('families of the domain meet in policies and timers only, and all may know the ledger', async (t) => {
  const familyOf = (path: string) => path.split('/')[2]
  const within = ownImports(ofTheDomain).filter(({ target }) => target.startsWith('packages/domain/'))
  await lawOver(t, within, ({ file, target }) => {
    const meets = /\/(policies|timers)\.ts$|^packages\/domain\/index\.ts$/.test(file.path)
    const allowed = [familyOf(file.path), 'ledger'].includes(familyOf(target)) || meets
    t.ok(allowed, `${file.path} may import ${target}`)
  })
})

t.test(
  'services do not import each other; the whole, its tools and the list of families put them together',
  async (t) => {
    const serviceOf = (path: string) => path.split('/')[1]!
    const whole = ['all-in-one', 'cli', 'families.ts']
    const apart = ofServices.filter(({ path }) => !whole.includes(serviceOf(path)))
    const within = ownImports(apart).filter(({ target }) => target.startsWith('services/'))
    await lawOver(t, within, ({ file, target }) => {
      const shared = ['composition', 'audit', 'families.ts']
      t.ok([serviceOf(file.path), ...shared].includes(serviceOf(target)), `${file.path} may import ${target}`)
    })
  },
)

t.test('a library is seen from its home only', async (t) => {
  const foreign = shipped.flatMap((file) =>
    file.imports.filter(({ from }) => !ours(from)).map((one) => ({ file, ...one })),
  )
  await lawOver(t, foreign, ({ file, from, typeOnly }) => {
    const home = homes[packageOf(from)]
    // A pool that is handed on has a type; only its home does anything with it.
    if (home && !(typeOnly && from === 'pg')) t.match(file.path, home, `${file.path} may use ${from}`)
    const allowed = pure[file.layer]
    if (allowed) t.match(from, allowed, `${file.path} may use ${from}`)
  })
})

t.test('what takes long to load is loaded by those who want it', async (t) => {
  const late = ['infra/telemetry/opentelemetry.ts', 'infra/event-store/eventstoredb/store.ts']
  await lawOver(t, late, (path) =>
    t.ok(
      sources.some((file) => file.path === path),
      path,
    ),
  )
  await lawOver(t, ownImports(ofServices), ({ file, from, typeOnly, target }) =>
    t.ok(typeOnly || !late.includes(target), `${file.path} may import ${from}`),
  )
})

t.test(
  'the environment is read in one file, and packages and projections know neither clock nor chance',
  async (t) => {
    await lawOver(t, shipped, ({ path, text }) => {
      if (path === 'infra/configuration.ts') return
      t.notMatch(text, /process\.env/, `${path} leaves the environment alone`)
    })
    const thinking = shipped.filter(({ layer }) => layer.startsWith('packages') || layer === 'projections')
    await lawOver(t, thinking, ({ path, text }) =>
      t.notMatch(
        text,
        /new Date\(\)|Date\.now\(|Temporal\.Now|Math\.random\(|randomUUID\(|setTimeout\(/,
        `${path} is pure`,
      ),
    )
  },
)

t.test('owners are compared in one place', async (t) => {
  const comparison = /\b(merchant|livemode)\b\s*[!=]==|[!=]==\s*[\w.]+\.(merchant|livemode)\b/
  const others = shipped.filter(({ path }) => path !== 'packages/kernel/owner.ts')
  await lawOver(t, others, ({ path, text }) => t.notMatch(text, comparison, `${path} asks owns()`))
})

t.test('imports have no cycles, and neither have those of types', async (t) => {
  const graph = new Map(
    sources.map((file) => [
      file.path,
      file.imports.filter(({ from }) => ours(from)).map(({ from }) => targetOf(file, from)),
    ]),
  )
  const done = new Set<string>()
  const visit = (path: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path]
    if (done.has(path)) return undefined
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...way, path])
      if (cycle) return cycle
    }
    done.add(path)
    return undefined
  }
  await lawOver(t, graph.keys(), (path) =>
    t.equal(visit(path, [])?.join(' -> '), undefined, `${path} is in no cycle`),
  )
})

t.test('limits are visible: 110 columns, 300 lines a file, 40 lines a function, 4 parameters', async (t) => {
  await lawOver(t, sources, ({ path, text, tree, layer }) => {
    const lines = text.trimEnd().split('\n')
    t.ok(lines.length <= linesOfFileMax, `${path} has ${lines.length} lines`)
    const texts = textLines(tree)
    const wide = lines.findIndex((line, index) => line.length > columnsMax && !texts.has(index))
    t.equal(wide, -1, `${path}:${wide + 1} is too wide`)
    // A test is a list of facts, however many its scenario has.
    if (layer !== 'test') visitFunctions(tree, (problem) => t.fail(`${path}: ${problem}`))
  })
})

t.test('only what is named here stands at the top of the repository', async (t) => {
  const built = /^(\..*|node_modules|dist|isolate-.*\.log)$/
  const named = `LICENSE Makefile README.md bench docs ikw infra package-lock.json package.json packages
    projections redocly.yaml services test tsconfig.json`
  const found = readdirSync('.').filter((name) => !built.test(name))
  t.strictSame(found.sort(), named.split(/\s+/))
})

t.test('names say something: no utils, helpers, common, types or misc; no default exports', async (t) => {
  await lawOver(t, sources, ({ path, tree }) => {
    t.notMatch(path, /\/(utils?|helpers?|common|types|misc)\.ts$/)
    const exported = tree.statements.find((statement) => ts.isExportAssignment(statement))
    t.notOk(exported, `${path} has no default export`)
  })
})

const columnsMax = 110
const linesOfFileMax = 300
const linesOfFunctionMax = 40
const parametersMax = 4

/** Lines that a text covers, which is not cut: SQL, messages, patterns. */
function textLines(tree: ts.SourceFile): ReadonlySet<number> {
  const covered = new Set<number>()
  const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node): void => {
    const isText =
      ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isRegularExpressionLiteral(node)
    if (isText && node.getWidth() > 20) {
      for (let line = lineOf(node.getStart()); line <= lineOf(node.end); line++) covered.add(line)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return covered
}

function visitFunctions(node: ts.Node, report: (problem: string) => void): void {
  if (ts.isFunctionLike(node) && 'body' in node && node.body) {
    const tree = node.getSourceFile()
    const first = tree.getLineAndCharacterOfPosition(node.getStart()).line
    const last = tree.getLineAndCharacterOfPosition(node.end).line
    const name = node.name?.getText() ?? 'a function'
    if (last - first + 1 > linesOfFunctionMax)
      report(`${name} at line ${first + 1} has ${last - first + 1} lines`)
    if (node.parameters.length > parametersMax)
      report(`${name} at line ${first + 1} takes ${node.parameters.length} parameters`)
  }
  ts.forEachChild(node, (child) => visitFunctions(child, report))
}
