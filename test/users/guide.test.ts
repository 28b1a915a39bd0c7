import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { temporaryDirectory } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { startService } from '../support/service.ts'

const run = promisify(execFile)
const guide = readFileSync(join(root, 'docs/guides/sign-in.md'), 'utf8')
/** Indented by four; what a page does in a browser is none of a shell's business. */
const blocks = [...guide.matchAll(/(?:^ {4}.*\n|^\n(?= {4}))+/gm)]
  .map(([block]) => block.replaceAll(/^ {4}/gm, ''))
  .filter((block) => !block.includes('await '))

/** What an authenticator shows that was given the secret. */
const authenticator =
  `code=$(cd '${root}' && SECRET=$(field secret < "$OLDPWD/totp.json") node --input-type=module ` +
  `-e "import { generate } from 'otplib'; console.log(await generate({ secret: process.env.SECRET }))")`

/** Any answer that is no success ends the walk, and says which. */
const strict = 'set -eo pipefail; curl() { command curl --fail-with-body "$@"; }'

t.test('the walk as a new user works line by line', async (t) => {
  const service = await startService(t, { RATE_LIMIT: 'on' })
  const home = temporaryDirectory(t)
  symlinkSync(service.service.runtime.configuration.dataDirectory, join(home, '.data'))
  const script = blocks
    .join('\n')
    .replace(/^api=.*$/m, `api=${service.url}`)
    .replace(/^code=….*$/m, authenticator)
  const { PATH = '' } = process.env
  const walked = await run('bash', ['-xc', `${strict}\n${script}`], { cwd: home, env: { PATH } }).then(
    ({ stdout }) => ({ stdout }),
    ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ stdout, stderr: stderr.slice(-2_000) }),
  )
  t.match(walked, { stdout: /"onboarding_completed":true/, stderr: undefined })
  t.match(walked.stdout, /^auth_session\nverified\n/m, 'a recovery code, and a proof for the number')
})
