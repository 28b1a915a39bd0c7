import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../root.ts'

const execute = promisify(execFile)

/** Programs that share nothing with the service. */
export const goPrograms = join(root, 'test/transparency/go')

const hasGo = await execute('go', ['version']).then(
  () => true,
  () => false,
)

/** Why the parts of the suite that need Go do not run here; on CI all of them do. */
export const withoutGo = hasGo
  ? false
  : 'Go is not on this machine, so its implementation verifies nothing here'
if (withoutGo && process.env['CI'] === 'true') throw new Error(`${withoutGo}: CI has to have it`)

export async function runGo(...parameters: readonly string[]): Promise<string> {
  try {
    return (await execute('go', ['run', ...parameters], { cwd: goPrograms })).stdout
  } catch (error) {
    throw new Error((error as { stderr: string }).stderr)
  }
}
