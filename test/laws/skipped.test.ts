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
  await t.rejects(failed, { code: 1, stdout: /nobody catches this[^]*not ok .*some\.test\.mjs\n/ })
})

t.test('the suite says in one line what it has skipped, and why', async (t) => {
  const file = join(temporaryDirectory(t), 'some.test.mjs')
  const lines = [
    `import t from ${JSON.stringify(import.meta.resolve('tap'))}`,
    `t.test('one', async (t) => t.pass())`,
    `t.test('two', { skip: 'a tool is missing' })`,
    `t.test('three', { skip: 'a tool is missing' })`,
  ]
  writeFileSync(file, lines.join('\n'))
  const suite = [join(root, 'dist/test/run.js'), file]
  const { stdout } = await run(process.execPath, suite, { env: { ...process.env, CI: 'true' } })
  t.match(
    stdout,
    /some\.test\.mjs: 3 checked, [\d.]+ s\n {4}skipped: a tool is missing\n\n2 passed, 0 failed\n$/,
  )
})

t.test('a file that checks nothing fails, also beside others', async (t) => {
  const directory = temporaryDirectory(t)
  const files = ['one', 'two'].map((name) => join(directory, `${name}.test.mjs`))
  const tap = `import t from ${JSON.stringify(import.meta.resolve('tap'))}\n`
  writeFileSync(files[0]!, `${tap}t.test('one', async (t) => t.pass())`)
  writeFileSync(files[1]!, tap)
  const inTurn = join(root, 'dist/test/support/in-turn.js')
  await t.rejects(run(process.execPath, [inTurn, ...files]), { code: 1, stdout: /not ok 1 - 0 checked/ })
})
