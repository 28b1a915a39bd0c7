import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import express from 'express'
import t from 'tap'
import { refusals } from '../../packages/contract/refusals.ts'
import { magicCardTokens, magicNumbers } from '../../packages/contract/payments/sandbox.ts'
import { webhookTypes } from '../../packages/domain/index.ts'
import { mountDocs } from '../../services/api/docs/docs.ts'
import { takeInOrder, verifyByOpenssl, verifyInNode } from '../../services/api/docs/webhooks.ts'
import { routes } from '../../services/families.ts'
import { signatureHeaders, signingKey } from '../../services/webhooks/signature.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { root } from '../support/root.ts'

const pages = ['/', '/docs', '/docs/errors', '/docs/webhooks', '/docs/sandbox']

let url: string

t.before(async () => {
  const app = express()
  mountDocs(app, routes, 'https://payments.ikw.test')
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

async function text(path: string): Promise<string> {
  const response = await fetch(url + path)
  if (!response.ok) throw new Error(`${path} answers ${response.status}`)
  return response.text()
}

t.test('a page loads nothing from elsewhere, and its policy allows no more', async (t) => {
  for (const page of pages) {
    const response = await fetch(url + page)
    t.equal(response.status, 200, page)
    const policy = response.headers.get('content-security-policy') ?? ''
    t.match(policy, /^default-src 'none';/, page)
    t.notMatch(policy, /https?:|unsafe-eval|script-src[^;]*unsafe/, page)
    const loaded = [
      ...(await response.text()).matchAll(/<(?:script|link|img)\b[^>]*?(?:src|href)="([^"]*)"/g),
    ].map(([, source]) => source!)
    await lawOver(t, loaded, async (source) => {
      t.match(source, /^\/docs\/assets\//, page)
      t.equal((await fetch(url + source)).status, 200, source)
    })
  }
  t.notMatch(await text('/docs/assets/redoc.js'), /cdn\.redoc/)
})

t.test('every link between the pages leads somewhere', async (t) => {
  for (const page of pages) {
    const links = [...(await text(page)).matchAll(/<a\b[^>]*?href="([^"]*)"/g)].map(
      ([, target]) => new URL(target!, url + page),
    )
    await lawOver(t, links, async ({ pathname, hash }) => {
      const target = await text(pathname)
      if (hash) t.match(target, `id="${hash.slice(1)}"`, `${page} ${pathname}${hash}`)
      else t.ok(target)
    })
  }
})

t.test('every error code has its place on the page that problems link to', async (t) => {
  const page = await text('/docs/errors')
  await lawOver(t, Object.values(refusals), ([, code]) => t.match(page, `id="${code}"`))
})

t.test('magic values and event types are all listed', async (t) => {
  const sandbox = await text('/docs/sandbox')
  await lawOver(t, [...magicNumbers, ...magicCardTokens], ({ value }) =>
    t.match(sandbox, `<code>${value}</code>`),
  )
  const webhooks = await text('/docs/webhooks')
  await lawOver(t, Object.keys(webhookTypes), (type) => t.match(webhooks, `<code>${type}</code>`))
})

t.test('what a reader has already is not sent again', async (t) => {
  const etag = (await fetch(`${url}/openapi.json`)).headers.get('etag') ?? ''
  const again = await fetch(`${url}/openapi.json`, {
    headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
  })
  t.equal(again.status, 304)
})

t.test('the code shown for Node and for openssl accepts our deliveries, and no others', async (t) => {
  const directory = temporaryDirectory(t)
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const body = '{"type":"payout.paid","data":{"account_name":"Awa Koné"}}'
  const headers = signatureHeaders([signingKey(secret)], { id: 'evt_1', at: new Date(), body })

  const module = join(directory, 'verify.mjs')
  writeFileSync(module, verifyInNode)
  const { isGenuine } = (await import(module)) as {
    isGenuine: (headers: object, body: string, secret: string) => boolean
  }
  t.equal(isGenuine(headers, body, secret), true)
  t.equal(isGenuine(headers, body.replace('paid', 'lost'), secret), false)
  t.equal(isGenuine({ ...headers, 'webhook-timestamp': '1' }, body, secret), false)
  t.equal(isGenuine({}, body, secret), false)

  const file = join(directory, 'body')
  writeFileSync(file, body)
  const [, timestamp, signature] = /^t=(\d+),v1=(.*)$/.exec(headers['ikw-signature']!)!
  const env = { PATH: process.env['PATH'], TIMESTAMP: timestamp, BODY: file, SECRET: secret }
  t.equal(execFileSync('sh', ['-c', verifyByOpenssl], { env, encoding: 'utf8' }).trim(), signature)
})

t.test('the sample that keeps order takes each event once, and none that is older', async (t) => {
  const { pool } = await testDatabase(t)
  await pool.query('create table applied (resource text primary key, sequence bigint not null)')
  const module = join(temporaryDirectory(t), 'order.mjs')
  writeFileSync(module, takeInOrder)
  const { apply } = (await import(module)) as {
    apply: (event: object, database: object) => Promise<boolean>
  }
  const event = (id: string, sequence: number) => ({ sequence, data: { object: 'payout', id } })
  const taken: boolean[] = []
  for (const one of [
    event('po_1', 7),
    event('po_1', 7),
    event('po_1', 5),
    event('po_2', 5),
    event('po_1', 9),
  ])
    taken.push(await apply(one, pool))
  t.strictSame(taken, [true, false, false, true, true])
})

t.test('decisions are numbered one after the other, and each begins with its number', async (t) => {
  const directory = join(root, 'docs/decisions')
  await lawOver(t, readdirSync(directory).sort().entries(), async ([index, file]) => {
    t.equal(Number(file.slice(0, 4)), index + 1, file)
    t.match(readFileSync(join(directory, file), 'utf8'), new RegExp(`^# ${index + 1}\\. `), file)
  })
})
