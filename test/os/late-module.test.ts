import { spawnSync } from 'node:child_process'
import t from 'tap'
import { lawOver } from '../support/law.ts'
import { nodeArguments } from '../support/processes/child-process.ts'

const libraries = ['pdfkit', '@simplewebauthn/server', '@zxcvbn-ts/core', 'xmlbuilder2']

t.test('what is first needed when no more files can be opened is loaded all the same', async (t) => {
  await lawOver(t, libraries, async (name) => {
    const script = nodeArguments('test/support/processes/late-module-process')
    // As many as a start needs, which reads modules side by side.
    const run = ['-c', 'ulimit -n 2048; exec "$@"', 'sh', process.execPath, ...script, name]
    const { stdout } = spawnSync('sh', run, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    const [first, second] = JSON.parse(stdout) as readonly string[]
    // It reads fonts as well, each time.
    t.match(first, name === 'pdfkit' ? /^failed: Error: EMFILE.*font/ : 'done', name)
    t.equal(second, 'done', `${name}, with files`)
  })
})
