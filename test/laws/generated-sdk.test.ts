import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { generateApi } from 'swagger-typescript-api'
import t from 'tap'
import { temporaryDirectory } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { startService } from '../support/service.ts'

const run = promisify(execFile)

const options = {
  target: 'ES2022',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  module: 'NodeNext',
  strict: true,
  skipLibCheck: false,
  types: [],
}

/** Returns what the compiler has to complain about. */
async function compile(directory: string, more: object = {}): Promise<string> {
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...options, ...more } }),
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', directory]).catch(
    (failure: { stdout: string }) => failure,
  )
  return stdout
}

/** An npm package with a method for each operation, as merchants generate and publish it for themselves. */
async function packSdk(directory: string, spec: object): Promise<string> {
  const fileName = 'index.ts'
  const style = { moduleNameIndex: 2, generateUnionEnums: true, silent: true }
  await generateApi({ spec: spec as never, output: directory, fileName, ...style })
  const files = ['index.js', 'index.d.ts']
  const manifest = { name: 'payments-sdk', version: '1.0.0', type: 'module', exports: './index.js', files }
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
  const complaints = await compile(directory, { declaration: true })
  if (complaints) throw new Error(complaints)
  const { stdout } = await run('npm', ['pack', '--json'], { cwd: directory })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  return join(directory, filename)
}

interface Program {
  trade(baseUrl: string, key: string): Promise<Readonly<Record<string, unknown>>>
}

t.test(
  'an SDK generated from the description is installed from npm and does what merchants do',
  async (t) => {
    const { url, sandboxKey } = await startService(t)
    const description = (await (await fetch(`${url}/openapi.json`)).json()) as object
    const directory = temporaryDirectory(t)
    const [sdk, shop] = ['sdk', 'shop'].map((name) => join(directory, name)) as [string, string]
    for (const path of [sdk, shop]) mkdirSync(path)
    const archive = await packSdk(sdk, description)
    writeFileSync(join(shop, 'package.json'), JSON.stringify({ name: 'shop', type: 'module' }))
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: shop })
    copyFileSync(join(root, 'test/fixtures/generated-sdk.ts.txt'), join(shop, 'shop.ts'))
    t.equal(await compile(shop), '', 'a strict program compiles')

    const { trade } = (await import(pathToFileURL(join(shop, 'shop.js')).href)) as Program
    t.match(await trade(url, sandboxKey), {
      once: true,
      intents: ['succeeded', 'canceled'],
      listed: 2,
      customers: ['awa@example.com'],
      payment: 5_000,
      refunds: [[true, 1_000]],
      payout: 500,
      payouts: 1,
      refused: 'IKW-PAYOUT-009',
      events: ['payout.*'],
      isRotated: true,
      endpoints: 1,
      failed: 0,
      types: Array,
      hasEvents: true,
      hasChanged: true,
    })
  },
)
