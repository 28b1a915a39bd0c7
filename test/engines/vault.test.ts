import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { loadMasterKeys } from '../../infra/secrets/master-key.ts'
import { keyId, openVault, sealedWith } from '../../infra/secrets/vault.ts'
import { lawOver } from '../support/law.ts'

const secret = 'whsec_c2VjcmV0IG9mIGEgd2ViaG9vayBlbmRwb2ludCE='
const current = randomBytes(32)
const vault = openVault(() => ({ current, older: [] }))

t.test('a sealed secret is opened by the vault that sealed it', async (t) => {
  t.equal(vault.open(vault.seal(secret, 'endpoint 1'), 'endpoint 1'), secret)
  t.equal(vault.open(vault.seal('', 'endpoint 1'), 'endpoint 1'), '')
})

t.test('the same secret is sealed differently every time and never shows itself', async (t) => {
  const sealed = [vault.seal(secret, 'endpoint 1'), vault.seal(secret, 'endpoint 1')]
  t.not(sealed[0], sealed[1])
  for (const text of sealed) {
    t.notOk(text.includes(secret))
    t.notOk(Buffer.from(text.split('.')[2] ?? '', 'base64url').includes('whsec_'))
  }
})

t.test('a sealed secret cannot be moved to another owner', async (t) => {
  t.throws(() => vault.open(vault.seal(secret, 'endpoint 1'), 'endpoint 2'))
})

t.test('a sealed secret that was changed or cut off does not open', async (t) => {
  const [format, id, text = ''] = vault.seal(secret, 'endpoint 1').split('.')
  const bytes = Buffer.from(text, 'base64url')
  await lawOver(t, bytes.keys(), (place) => {
    const changed = Buffer.from(bytes)
    changed[place] = (changed[place] ?? 0) ^ 1
    t.throws(() => vault.open(`${format}.${id}.${changed.toString('base64url')}`, 'endpoint 1'))
  })
  t.throws(() => vault.open(`${format}.${id}.${bytes.subarray(0, -1).toString('base64url')}`, 'endpoint 1'))
  t.throws(() => vault.open(`${format}.${id}.`, 'endpoint 1'), /cut off/)
  t.throws(() => vault.open(secret, 'endpoint 1'), /known format/)
})

t.test(
  'after the master key was replaced, older secrets still open and new ones are sealed with the new key',
  async (t) => {
    const keys = { current: randomBytes(32), older: [current] }
    const next = openVault(() => keys)
    t.equal(next.open(vault.seal(secret, 'endpoint 1'), 'endpoint 1'), secret)
    t.throws(() => vault.open(next.seal(secret, 'endpoint 1'), 'endpoint 1'), /not here/)
  },
)

t.test('secrets sealed in turn each open, all under the key that was current when that began', async (t) => {
  let keys = { current, older: [] as Buffer[] }
  const rotated = openVault(() => keys)
  const seal = rotated.sealer()
  keys = { current: randomBytes(32), older: [current] }
  const sealed = ['one', 'two', 'two'].map((text) => seal(text, `subject/${text}`))
  t.strictSame(new Set(sealed.map(sealedWith)), new Set([keyId(current)]))
  t.equal(new Set(sealed).size, 3)
  t.strictSame(
    sealed.map((text, index) => rotated.open(text, `subject/${['one', 'two', 'two'][index]}`)),
    ['one', 'two', 'two'],
  )
  t.throws(() => rotated.open(sealed[0]!, 'subject/two'))
  t.equal(sealedWith(rotated.seal('one', 'subject/one')), keyId(keys.current))
})

t.test('a master key of another length is refused', async (t) => {
  t.throws(() => openVault(() => ({ current: randomBytes(16), older: [] })), /32 bytes/)
})

t.test('the master key is made once, kept for its owner alone, and can be given instead', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'vault-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const made = loadMasterKeys(directory)
  const file = join(directory, 'master.key')
  t.equal(made.current.length, 32)
  t.equal(statSync(file).mode & 0o777, 0o600)
  chmodSync(file, 0o644)
  t.strictSame(loadMasterKeys(directory), made)
  t.equal(statSync(file).mode & 0o777, 0o600, 'a door left open is closed again')
  t.strictSame(readdirSync(directory), ['master.key'], 'no draft is left behind')
  t.strictSame(loadMasterKeys(directory, current.toString('base64')), { current, older: [] })
})

t.test('a damaged master key stops the start instead of being replaced', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'vault-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'master.key'), 'c2hvcnQ=')
  t.throws(() => loadMasterKeys(directory), /32 bytes/)
  t.throws(() => loadMasterKeys(directory, 'c2hvcnQ='), /32 bytes/)
})
