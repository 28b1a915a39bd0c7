import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { temporaryDirectory } from '../support/postgres.ts'
import { root } from '../support/root.ts'

const run = promisify(execFile)

t.test('an error that nobody catches fails its file', async (t) => {
  const file = join(temporaryDirectory(t), 'some.test.mjs')
  const lines = [
    `import t from ${JSON.stringify(import.meta.resolve('tap'))}`,
    `t.test('one', async (t) => t.pass())`,
    `void Promise.reject(new Error('nobody catches this'))`,
  ]
  writeFileSync(file, lines.join('\n'))
  const suite = [join(root, 'dist/test/run.js'), file]
  const failed = run(process.execPath, suite, { env: { ...process.env, CI: 'true' } })
  await t.rejects(failed, { code: 1, stdout: /nobody catches this[^]*not ok .*some\.test\.mjs: / })
})

t.test('the suite says in one line what it has skipped, and why', async (t) => {
  const file = join(temporaryDirectory(t), 'some.test.mjs')
  const tap = [
    'TAP version 14',
    'ok 1 - one',
    'ok 2 - two # SKIP a tool is missing',
    'ok 3 - three # SKIP a tool is missing',
    '1..3',
    '# { total: 3, pass: 1, skip: 2 }',
  ]
  writeFileSync(file, `console.log(${JSON.stringify(tap.join('\n'))})`)
  const suite = [join(root, 'dist/test/run.js'), file]
  const { stdout } = await run(process.execPath, suite, { env: { ...process.env, CI: 'true' } })
  t.match(
    stdout,
    /some\.test\.mjs: 1 passed, 0 failed, [\d.]+ s\n {4}skipped: a tool is missing\n\n1 passed, 0 failed\n$/,
  )
})
