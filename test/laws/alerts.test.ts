import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'
import { startService } from '../support/service.ts'

const run = promisify(execFile)
const built = join(root, '.data/tools/bin/promtool')
const promtool = existsSync(built) ? built : 'promtool'

const hasPromtool = await run(promtool, ['--version']).then(
  () => true,
  () => false,
)
const skip = hasPromtool ? false : 'promtool is not on this machine, so no alert is tried: make promtool'

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[]
  }[]
}

interface Cases {
  readonly tests: readonly {
    readonly input_series: readonly { readonly series: string; readonly values: string }[]
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

t.test('where the absence of a figure alone is an alert, it fires for that', async (t) => {
  const { groups } = read('infra/alerts.yml') as Rules
  const { tests } = read('infra/alerts.test.yml') as Cases
  const absences = groups
    .flatMap((group) => group.rules)
    .flatMap(({ alert, expr }) =>
      [...expr.matchAll(/absent\(([^)]+)\)/g)].map(([, selector = '']) => ({ alert, selector })),
    )
  await lawOver(t, absences, ({ alert, selector }) => {
    const begins = selector.replace(/\}$/, '')
    const shown = tests.filter(({ input_series: series, promql_expr_test: asked = [] }) => {
      const own = asked.filter(({ expr }) => expr.includes(`alertname="${alert}"`))
      const given = series.filter((one) => one.series.startsWith(begins))
      const isGone = given.every(({ values }) => values.endsWith('stale'))
      return isGone && own.some(({ exp_samples: samples }) => samples.length > 0)
    })
    t.not(shown.length, 0, `${alert}: ${selector} is gone`)
  })
})

/** What has never been done has no age. */
const untilDone = ['upkeep_age_seconds']

t.test(
  'a figure whose absence is an alert is given by a service on which nothing has happened yet',
  async (t) => {
    const { groups } = read('infra/alerts.yml') as Rules
    const rules = groups.flatMap((group) => group.rules)
    const names = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/absent\((\w+)/g)].map(([, name = '']) => name),
    )
    const { service, get } = await startService(t)
    // Only what was asked takes time.
    await get('/api/v1/balance')
    const given = () => service.runtime.health.metrics.text()
    await lawOver(t, new Set(names.filter((name) => !untilDone.includes(name))), async (name) => {
      const isGiven = (text: string) => new RegExp(`^${name}(?:\\{.*\\})? \\d`, 'm').test(text)
      t.ok(isGiven(await eventually(given, isGiven)), name)
    })
  },
)

t.test('every alert fires when it should, and not before', { skip }, async (t) => {
  await t.resolves(run(promtool, ['check', 'rules', join(root, 'infra/alerts.yml')]))
  await t.resolves(run(promtool, ['test', 'rules', join(root, 'infra/alerts.test.yml')]))
})
