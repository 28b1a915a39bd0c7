import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

const run = promisify(execFile)
const built = join(root, '.data/tools/bin/promtool')
const promtool = existsSync(built) ? built : 'promtool'

const hasPromtool = await run(promtool, ['--version']).then(
  () => true,
  () => false,
)
const skip = hasPromtool ? false : 'promtool is not on this machine, so no alert is tried: make promtool'

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[]
}

interface Cases {
  readonly tests: readonly {
    readonly promql_expr_test?: readonly { readonly expr: string; readonly exp_samples: readonly object[] }[]
  }[]
}

const read = (path: string): unknown => parse(readFileSync(join(root, path), 'utf8'))

t.test('there is a case in which each alert fires, and one in which it is silent', async (t) => {
  const { groups } = read('infra/alerts.yml') as Rules
  const { tests } = read('infra/alerts.test.yml') as Cases
  const cases = tests.flatMap(({ promql_expr_test: asked = [] }) => asked)
  const rules = groups.flatMap((group) => group.rules)
  await lawOver(t, rules, ({ alert }) => {
    const own = cases.filter(({ expr }) => expr.includes(`alertname="${alert}"`))
    t.ok(
      own.some(({ exp_samples: samples }) => samples.length > 0),
      `${alert} fires`,
    )
    t.ok(
      own.some(({ exp_samples: samples }) => samples.length === 0),
      `${alert} is silent`,
    )
  })
})

t.test('every alert fires when it should, and not before', { skip }, async (t) => {
  await t.resolves(run(promtool, ['check', 'rules', join(root, 'infra/alerts.yml')]))
  await t.resolves(run(promtool, ['test', 'rules', join(root, 'infra/alerts.test.yml')]))
})
