import { execFile } from 'node:child_process'
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import openapiTypes, { astToString } from 'openapi-typescript'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { startService } from '../support/service.ts'

interface Shown {
  readonly id: string
  readonly status: string
}

interface Merchant {
  payOut(order: string): Promise<Shown>
  payout(id: string): Promise<Shown>
  collect(): Promise<Shown>
  intent(id: string): Promise<Shown>
  settle(payout: string, intent: string): Promise<void>
  payOutTooLittle(): Promise<unknown>
}

const options = {
  target: 'ES2022',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  module: 'NodeNext',
  strict: true,
  exactOptionalPropertyTypes: true,
  types: [],
}

/** Compiles the program of a merchant against types that were generated from the description. */
async function compile(directory: string, description: string): Promise<string> {
  const types = astToString(await openapiTypes(description))
  writeFileSync(join(directory, 'api.ts'), types)
  copyFileSync(join(root, 'test/fixtures/generated-client.ts.txt'), join(directory, 'client.ts'))
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }))
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', directory]).catch(
    (failure: { stdout: string }) => failure,
  )
  return stdout
}

t.test('a client that is generated from the description compiles, pays and collects', async (t) => {
  const { url, sandboxKey } = await startService(t)
  const directory = temporaryDirectory(t)
  const description = await fetch(`${url}/openapi.json`)
  t.equal(await compile(directory, await description.text()), '', 'it compiles')

  const program = (await import(pathToFileURL(join(directory, 'client.js')).href)) as {
    merchant(baseUrl: string, key: string): Merchant
  }
  const merchant = program.merchant(url, sandboxKey)
  const { id: payout } = await merchant.payOut('order-1042')
  t.equal((await merchant.payOut('order-1042')).id, payout, 'the same order is paid once')
  const { id: intent } = await merchant.collect()
  const is = (status: string) => (shown: Shown) => shown.status === status
  await eventually(() => merchant.payout(payout), is('in_transit'))
  await merchant.settle(payout, intent)
  t.match(await merchant.payout(payout), { id: payout, status: 'paid' })
  t.match(await merchant.intent(intent), { id: intent, status: 'succeeded' })
  t.match(await merchant.payOutTooLittle(), { code: 'IKW-PAYOUT-009', retryable: false })
})
