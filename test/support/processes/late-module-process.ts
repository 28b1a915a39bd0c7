import { closeSync, openSync } from 'node:fs'
import { statementHead } from '../../../infra/exports/camt053.ts'
import { WebauthnPasskeys } from '../../../infra/secrets/passkeys.ts'
import { guesser } from '../../../infra/secrets/password-strength.ts'
import { pdfOf } from '../../../services/api/pages/receipt-pdf.ts'

/** Uses what a library does, first when no file can be opened any more, then when one can. Prints both. */
const [name = ''] = process.argv.slice(2)
const id = '01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'
const at = '2026-01-01T00:00:00.000Z'

const uses: Readonly<Record<string, () => Promise<unknown>>> = {
  pdfkit: async () => {
    const merchant = { name: 'Awa', logo_url: null, accent_color: null }
    const receipt = { number: '1', paid_at: at, merchant }
    return pdfOf({ title: 'Receipt', language: 'en', receipt, rows: [] })
  },
  '@simplewebauthn/server': async () =>
    new WebauthnPasskeys({ blindIndex: async () => id, url: 'http://localhost' }).request(id, []),
  '@zxcvbn-ts/core': async () => (await guesser())('password1', []),
  xmlbuilder2: async () => {
    const names = { id, account: 'A', accountName: 'A', owner: 'A', currency: 'XOF' }
    return statementHead({ ...names, from: at, to: at, opening: 0, closing: 0 })
  },
}

async function outcome(): Promise<string> {
  return uses[name]!().then(
    () => 'done',
    (error: unknown) => `failed: ${String(error)}`,
  )
}

const held: number[] = []
try {
  for (;;) held.push(openSync('/dev/null', 'r'))
} catch {
  // No more can be opened.
}
const first = await outcome()
for (const one of held) closeSync(one)
console.log(JSON.stringify([first, await outcome()]))
