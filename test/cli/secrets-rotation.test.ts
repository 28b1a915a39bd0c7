import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Webhook } from 'standardwebhooks'
import { ikw, jsonOf, type Settings } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { MovingMerchant } from '../support/processes/movable-service.ts'
import { testDatabase } from '../support/postgres.ts'

interface KeyUse {
  readonly key: string
  readonly endpoints: number
  readonly answers: number
  readonly personal_keys: number
  readonly log_keys: number
}

/** A merchant with an endpoint, whose secret it was told under an idempotency key. */
async function merchantWithSecret(t: Test) {
  const places = { POSTGRES_URL: (await testDatabase(t)).url }
  const merchant = new MovingMerchant(t)
  const settings = merchant.settings(places)
  await merchant.start(places)
  const secret = await merchant.listen()
  const ikwSecrets = (command: string, other: Settings = {}) =>
    ikw({ ...settings, ...other }, 'secrets', command, '--json')
  return { merchant, places, secret, ikwSecrets, file: join(merchant.dataDirectory, 'master.key') }
}

t.test('while the service runs, the master key is replaced, and webhooks are signed as before', async (t) => {
  const { merchant, places, secret, ikwSecrets, file } = await merchantWithSecret(t)
  const hook = new Webhook(secret)
  const signs = async () => {
    const heard = merchant.requests.length
    await merchant.endPayout(await merchant.requestPayout(), 'paid')
    await merchant.settled()
    const requests = merchant.requests.slice(heard)
    t.ok(requests.length > 0)
    await lawOver(t, requests, ({ body, headers }) => t.doesNotThrow(() => hook.verify(body, headers)))
  }
  await signs()
  const [before] = jsonOf<readonly KeyUse[]>(await ikwSecrets('status'))
  t.match(before, { endpoints: 1, answers: 1, log_keys: 1 })

  t.match(jsonOf(await ikwSecrets('rotate')), { older: [before!.key], resealed: 4 + before!.personal_keys })
  const [current, older] = jsonOf<readonly KeyUse[]>(await ikwSecrets('status'))
  t.match(current, { endpoints: 1, answers: 1, log_keys: 1 })
  t.match(older, { key: before!.key, endpoints: 0, answers: 0, log_keys: 0 })
  await signs()

  t.match(jsonOf(await ikwSecrets('forget')), { forgotten: [before!.key] })
  t.equal(readFileSync(file, 'utf8').trim().split('\n').length, 1)
  t.equal(
    await merchant.listenAgain(),
    secret,
    'the request with the same key is answered with the same secret',
  )
  await merchant.stop()
  await merchant.start(places)
  await signs()
})

t.test('a rotation that was interrupted is completed with the key that it has made', async (t) => {
  const { merchant, ikwSecrets, file } = await merchantWithSecret(t)
  await merchant.settled()
  const [old] = jsonOf<readonly KeyUse[]>(await ikwSecrets('status'))
  const made = Buffer.alloc(32, 7).toString('base64')
  writeFileSync(file, `${made}\n${readFileSync(file, 'utf8')}`)
  t.match(await ikwSecrets('forget'), { code: 2, stderr: /secrets in use need an older key/ })
  t.match(jsonOf(await ikwSecrets('rotate')), { older: [old!.key], resealed: 4 + old!.personal_keys })
  t.match(readFileSync(file, 'utf8'), new RegExp(`^${made.replaceAll(/[+/]/g, '.')}\n`))
})

t.test(
  'where the key is a setting, the next one is given there, and the command seals with it',
  async (t) => {
    const { merchant, ikwSecrets, file } = await merchantWithSecret(t)
    const old = readFileSync(file, 'utf8').trim()
    const next = Buffer.alloc(32, 9).toString('base64')
    t.match(await ikwSecrets('rotate', { MASTER_KEY: old }), { code: 2, stderr: /<new>,<old>/ })
    t.match(jsonOf(await ikwSecrets('rotate', { MASTER_KEY: `${next},${old}` })), { resealed: 8 })
    t.match(jsonOf(await ikwSecrets('forget', { MASTER_KEY: `${next},${old}` })), { forgotten: [/^\w{12}$/] })
    const uses = await eventually(
      async () => jsonOf<readonly KeyUse[]>(await ikwSecrets('status', { MASTER_KEY: next })),
      ([use]) => use?.endpoints === 1,
    )
    t.equal(uses.length, 1)
    await merchant.stop()
  },
)
