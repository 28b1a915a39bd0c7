import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { deleteMailsWith } from '../../infra/mail/erase.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { rebuildModels } from '../../services/cli/projections.ts'
import { erase, type Erased, type Erasing } from '../../services/privacy/erase.ts'
import { userNamed } from '../../services/privacy/person.ts'
import { ikw, jsonOf, settingsOf, type Run } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { mailedToken } from '../support/identities/mails.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'
const name = 'Mariama Forgotten-Diallo'
const secondary = 'mariama.second@example.com'

let service: TestService

t.before(async () => {
  service = await startService(t, {}, { keysFreshMs: 100 })
})

const run = (...parameters: readonly string[]): Promise<Run> => ikw(settingsOf(service), ...parameters)
const why = ['--by', 'awa', '--reason', 'Asked for it by mail']

/** Every row of every table, and every mail, as text. */
async function everything(): Promise<readonly string[]> {
  const { configuration, postgres } = service.service.runtime
  const { rows } = await postgres.pool.query<{ table: string }>(
    `select format('%I.%I', schemaname, tablename) as table from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const texts: string[] = []
  for (const { table } of rows) {
    const found = await postgres.pool.query<{ row: string }>(`select t::text as row from ${table} t`)
    texts.push(...found.rows.map(({ row }) => `${table}: ${row}`))
  }
  const mails = join(configuration.dataDirectory, 'mail')
  for (const file of existsSync(mails) ? readdirSync(mails) : [])
    texts.push(`mail: ${readFileSync(join(mails, file), 'utf8')}`)
  return texts
}

async function placesOf(...values: readonly string[]): Promise<readonly string[]> {
  const texts = await everything()
  return texts
    .filter((text) => values.some((value) => text.includes(value)))
    .map((text) => text.split(': ')[0]!)
}

t.test('a user who is erased is found nowhere, and can sign in nowhere', async (t) => {
  const owner = await newUser(service)
  const { id, email, password, token, merchant: own } = await newUser(service)
  const asUser = { key: token }
  const changed = await service.call(
    'PATCH',
    `${auth}/personal-info`,
    { name, secondaryEmail: secondary },
    asUser,
  )
  t.equal(changed.status, 200, JSON.stringify(changed.body))
  await eventually(
    () => placesOf(email),
    (places) => places.includes('mail'),
  )
  t.match(JSON.stringify((await service.get(`${auth}/me`, asUser)).body), name)

  t.match(await run('privacy', 'export', email), { code: 0, stdout: new RegExp(name) })
  const needed = { code: 2, stderr: new RegExp(`merchant ${own} has no other owner`) }
  t.match(await run('privacy', 'erase', email, ...why), needed, 'nobody could work for the merchant')
  t.equal((await service.get(`${auth}/me`, asUser)).status, 200)
  t.match(await run('merchants', 'suspend', own, ...why), { code: 0 })

  const erased = await run('privacy', 'erase', email, ...why, '--json')
  const { left, ...rest } = jsonOf<Erased>(erased)
  t.strictSame(left, [], erased.stderr)
  t.match(rest, { clear: 0, merchants: [own] })
  t.strictSame(await placesOf(name, secondary), [])
  const kept = await placesOf(email)
  t.ok(
    kept.every((place) => /^read\.merchants_v/.test(place)),
    `the merchant keeps its own address: ${kept.join()}`,
  )
  t.equal((await service.get(`${auth}/me`, asUser)).status, 401, 'sessions are over')
  t.equal((await service.post(`${auth}/login`, { email, password }, { key: '' })).status, 401)
  const { stdout } = await run('privacy', 'export', id)
  t.match(stdout, /\[erased\]/)
  t.notMatch(stdout, new RegExp(`${name}|${email}|${secondary}`))
  t.match(await run('privacy', 'erase', email, ...why), { code: 2, stderr: /There is no/ })

  const again = { email, password, name: 'Mariama', merchantName: 'Boutique', country: 'SN' }
  t.equal((await service.post(`${auth}/register`, again, { key: '' })).status, 201, 'the address is free')
  t.equal((await signIn(service, owner)).id, owner.id, 'others sign in as before')
  t.match(await run('ledger', 'replay'), { code: 0 })
})

t.test('who came by an invitation is erased with it', async (t) => {
  const { owner_email, owner_password, merchant_id } = service.service.credentials
  const owner = await signIn(service, { email: owner_email, password: owner_password })
  const invited = { email: 'moussa.forgotten@example.com', role: 'developer', name: 'Moussa Forgotten-Sow' }
  const options = { key: owner.token, headers: { 'idempotency-key': 'invite-Moussa' } }
  t.equal((await service.post('/api/v1/merchant/team/invite', invited, options)).status, 201)
  const token = await mailedToken(service.service, invited.email, 'invitation')
  const acceptance = { token, password: 'toujours quatre mots au hasard' }
  t.equal((await service.post('/api/v1/invitations/accept', acceptance, { key: '' })).status, 200)
  t.match((await run('privacy', 'export', invited.email)).stdout, '"InvitationSent"')
  const erased = await run('privacy', 'erase', invited.email, ...why, '--json')
  t.strictSame(jsonOf<Erased>(erased).left, [], erased.stderr)
  t.match(jsonOf(erased), { merchants: [merchant_id] })
  t.strictSame(await placesOf(invited.email, invited.name), [])
})

t.test('two who delete the same mails do not disturb each other', async (t) => {
  const directory = temporaryDirectory(t)
  for (let number = 0; number < 50; number++) writeFileSync(join(directory, `${number}.eml`), name)
  await Promise.all([1, 2, 3].map(() => deleteMailsWith(directory, [name])))
  t.strictSame(readdirSync(directory), [])
})

/** Before each of these it is killed once. */
const steps = [
  'looking for what is on its way',
  'closing the account of user',
  'retiring the keys',
  'looking again',
  'redacting copies',
  'destroying the keys',
  'building read models anew',
  'redacting copies once more',
  'searching for what is left',
  'letting others have the address',
]

/** Somebody whom nobody needs any more: the own merchant is suspended. */
async function leaver(step: string): Promise<SignedIn & { readonly name: string }> {
  const person = await newUser(service)
  const { executor } = service.service.runtime.dependencies
  const { merchant: id } = person
  const envelope = { merchant: id, livemode: false, actor: 'test', correlation: 'test' }
  await executor.send(merchant, id, { type: 'SuspendMerchant', data: { reason: 'Closed' } }, envelope)
  const ofStep = `Mariama ${step}-Forgotten`
  const renamed = await service.call(
    'PATCH',
    `${auth}/personal-info`,
    { name: ofStep },
    { key: person.token },
  )
  if (renamed.status !== 200) throw new Error(JSON.stringify(renamed.body))
  return { ...person, name: ofStep }
}

t.test('killed before any of its steps, it is completed by whoever names the user again', async (t) => {
  const { runtime } = service.service
  const leavers = await Promise.all(steps.map(leaver))
  const erased = await Promise.all(
    leavers.map(async ({ email }, index) => {
      const erasing = async (): Promise<Erasing> => ({
        person: (await userNamed(runtime.dependencies, email))!,
        by: 'awa',
        reason: 'Asked for it',
        rebuild: (models) => rebuildModels(runtime, models),
      })
      let reached = ''
      const onStep = (step: string) => {
        reached = step
        if (step.startsWith(steps[index]!)) throw new Error('killed')
      }
      await t.rejects(erase(runtime, { ...(await erasing()), onStep }), /killed/, `not before ${reached}`)
      return erase(runtime, await erasing())
    }),
  )
  t.strictSame(
    erased.flatMap(({ left }) => left),
    [],
  )
  t.strictSame(await placesOf(...leavers.map((one) => one.name)), [])
  const kept = await placesOf(...leavers.map(({ email }) => email))
  t.ok(
    kept.every((place) => place.startsWith('read.merchants_v')),
    kept.join(),
  )
  const { rows } = await runtime.postgres.pool.query('select from erasures where done_at is null')
  t.equal(rows.length, 0)
  await lawOver(t, leavers, async ({ email, password }) => {
    t.equal((await service.post(`${auth}/login`, { email, password }, { key: '' })).status, 401)
    const again = { email, password, name: 'Mariama', merchantName: 'Boutique', country: 'SN' }
    const { status } = await service.post(`${auth}/register`, again, { key: '' })
    t.equal(status, 201, 'the address is free')
  })
})
