import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { readConfiguration } from '../../infra/configuration.ts'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'
import { startService } from '../support/service.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface ComposeService {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly healthcheck?: { readonly test: readonly string[] }
}

const composed = parse(read('infra/compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: object
}
const { services } = composed
const serviceOf = (name: string) => services[name]!
const ours = ['api', 'notary', 'processes', 'projector', 'relay', 'webhooks']
const scripts = (JSON.parse(read('package.json')) as { readonly scripts: Record<string, string> }).scripts
const dockerfile = read('infra/Dockerfile')

/** What a process makes of its environment, and which settings there are. */
function configured(environment: Readonly<Record<string, string>>) {
  const asked = new Set<string>()
  const recording = new Proxy(environment, {
    get: (target, name) => (asked.add(String(name)), Reflect.get(target, name) as string | undefined),
  })
  return { configuration: readConfiguration(recording), asked }
}

t.test('the composition has every service and every engine, and nothing else', async (t) => {
  const engines = ['eventstore', 'kafka', 'postgres', 'prometheus', 'grafana']
  t.same(Object.keys(services).sort(), [...ours, 'setup', ...engines].sort())
})

t.test('every image has a version', async (t) => {
  await lawOver(t, Object.entries(services), ([name, { image }]) => t.match(image, /:v?\d+\.\d+[^:]*$/, name))
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
  t.equal(bases.length, 2)
  await lawOver(t, bases, (base) => t.match(base, /^node:2[2-9]\.\d+\.\d+/))
  const { version } = JSON.parse(read('package.json')) as { readonly version: string }
  for (const name of [...ours, 'setup']) t.equal(serviceOf(name).image, `ikw-payments:${version}`)
  const pom = /<kafka.version>(.+)<\/kafka.version>/.exec(read('infra/kafka/pom.xml'))?.[1]
  t.equal(
    serviceOf('kafka').image,
    `apache/kafka:${pom}`,
    'the broker of the tests and of the composition are one',
  )
})

t.test('a service is one command, the same as without containers', async (t) => {
  for (const name of [...ours, 'setup']) t.equal(serviceOf(name).command?.join(' '), scripts[`start:${name}`])
})

t.test('every variable is a setting that exists, with a value that it takes', async (t) => {
  const ports: Record<string, string> = Object.fromEntries(
    [...dockerfile.matchAll(/(\w*PORT)=(\d+)/g)].map(([, name, port]) => [name, port]),
  )
  for (const name of [...ours, 'setup']) {
    const environment = serviceOf(name).environment!
    const { configuration, asked } = configured(environment)
    t.same(
      Object.keys(environment).filter((variable) => !asked.has(variable)),
      [],
      `${name} sets nothing unknown`,
    )
    t.match(configuration, {
      eventStoreUrl: String,
      postgresUrl: String,
      kafkaBrokers: [String],
      dataDirectory: '/data',
    })
    for (const [variable, port] of Object.entries(ports))
      if (variable in environment) t.equal(environment[variable], port)
  }
})

t.test('an engine is where the services look for it, and only this machine reaches it', async (t) => {
  const { eventStoreUrl, postgresUrl, kafkaBrokers } = configured(serviceOf('api').environment!).configuration
  t.equal(
    new URL(eventStoreUrl!.replace('esdb:', 'http:')).host,
    `eventstore:${serviceOf('eventstore').environment!['EVENTSTORE_NODE_PORT']}`,
  )
  const {
    POSTGRES_USER: user,
    POSTGRES_PASSWORD: password,
    POSTGRES_DB: database,
  } = serviceOf('postgres').environment!
  t.equal(postgresUrl, `postgres://${user}:${password}@postgres:5432/${database}`)
  t.equal(serviceOf('kafka').environment!['KAFKA_ADVERTISED_LISTENERS'], `PLAINTEXT://${kafkaBrokers![0]}`)
  t.equal(serviceOf('eventstore').environment!['EVENTSTORE_RUN_PROJECTIONS'], 'None')
  const ports = Object.values(services).flatMap((service) => service.ports ?? [])
  await lawOver(t, ports, (port) => t.match(port, /^127\.0\.0\.1:(\d+):\1$/, port))
})

t.test(
  'our containers may write to their data only, as nobody in particular, and say how they are',
  async (t) => {
    t.match(dockerfile, /^USER node$/m)
    for (const name of [...ours, 'setup']) {
      const { read_only: readOnly, cap_drop: dropped, volumes } = serviceOf(name)
      t.same(
        { readOnly, dropped, volumes },
        { readOnly: true, dropped: ['ALL'], volumes: ['data:/data'] },
        name,
      )
    }
    for (const name of ours) {
      const { environment, healthcheck, depends_on: needs } = serviceOf(name)
      t.match(healthcheck!.test.join(' '), `http://localhost:${environment!['HEALTH_PORT']}/healthz`, name)
      t.same(Object.keys(needs!), ['setup', 'eventstore', 'postgres', 'kafka'])
    }
  },
)

t.test('what is named is there: volumes and files', async (t) => {
  const volumes = Object.values(services).flatMap((service) => service.volumes ?? [])
  await lawOver(t, volumes, (volume) => {
    const [from = ''] = volume.split(':')
    if (from.startsWith('./')) t.ok(read(join('infra', from)).length > 0, from)
    else t.ok(from in composed.volumes, from)
  })
  await lawOver(t, dockerfile.matchAll(/^COPY ([a-z]\S*) /gm), ([, from]) =>
    t.match(read('infra/Dockerfile.dockerignore'), `!${from}`),
  )
})

t.test('Prometheus asks every service where it answers', async (t) => {
  const { scrape_configs: jobs } = parse(read('infra/prometheus.yml')) as {
    readonly scrape_configs: readonly {
      readonly job_name: string
      readonly dns_sd_configs: readonly { names: string[]; port: number }[]
    }[]
  }
  t.same(jobs.map(({ job_name: name }) => name).sort(), ours)
  await lawOver(t, jobs, ({ job_name: name, dns_sd_configs: [from] }) => {
    const { HEALTH_PORT: port } = serviceOf(name).environment!
    t.same({ names: from!.names, port: String(from!.port) }, { names: [name], port })
  })
})

interface Board {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}

interface Alerts {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

const functions = 'absent or and sum by rate increase max min scalar histogram_quantile offset'.split(' ')

/** Names of metrics in an expression of PromQL. */
function metricsIn(expression: string): readonly string[] {
  const withoutLabels = expression.replaceAll(
    /by \([^)]*\)|\{[^}]*\}|\[[^\]]*\]|offset \w+|(?<!\w)\d\S*/g,
    '',
  )
  const names = [...withoutLabels.matchAll(/[a-z][a-z0-9_]+/g)].map(([name]) => name)
  return names.filter((name) => !functions.includes(name))
}

t.test('board and alerts ask for metrics that exist, and Prometheus knows the alerts', async (t) => {
  const service = await startService(t)
  await service.get('/api/v1/balance')
  const { body } = await service.health<unknown>('/metrics')
  // `up` is made by Prometheus.
  const known = new Set(['up'])
  for (const [, name = '', type] of String(body).matchAll(/^# TYPE (\S+) (\S+)/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_count', '_sum'] : ['']
    for (const suffix of suffixes) known.add(name + suffix)
  }
  const { panels } = JSON.parse(read('infra/grafana/service.json')) as Board
  const { groups } = parse(read('infra/alerts.yml')) as Alerts
  const shown = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const))
  const rules = groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr] as const))
  await lawOver(t, [...shown, ...rules], ([name, expression]) => {
    const named = metricsIn(expression)
    t.ok(named.length > 0, name)
    t.same(
      named.filter((metric) => !known.has(metric)),
      [],
      name,
    )
  })
  const { rule_files: files } = parse(read('infra/prometheus.yml')) as { readonly rule_files: string[] }
  const mounted = serviceOf('prometheus').volumes!
  await lawOver(t, files, (file) => t.ok(mounted.includes(`./${file}:/etc/prometheus/${file}:ro`), file))
  const told = [...read('docs/operations.md').matchAll(/^### (\w+)$/gm)].map(([, alert]) => alert)
  t.same(
    told,
    rules.map(([alert]) => alert),
    'operations.md says what to do on each alert',
  )
})

t.test('every alert says where to read what to do, and NoLeader also when nothing is left', async (t) => {
  const { groups } = parse(read('infra/alerts.yml')) as {
    readonly groups: readonly {
      readonly rules: readonly {
        readonly alert: string
        readonly expr: string
        readonly annotations: Readonly<Record<string, string>>
      }[]
    }[]
  }
  const rules = groups.flatMap((group) => group.rules)
  await lawOver(t, rules, ({ alert, annotations }) => {
    const page = `{{ $externalLabels.runbooks }}/operations.md#${alert.toLowerCase()}`
    t.equal(annotations['runbook_url'], page, alert)
    t.match(read('docs/operations.md'), new RegExp(`^### ${alert}$`, 'm'))
    t.ok(annotations['summary'], alert)
  })
  const labels = parse(read('infra/prometheus.yml')) as { global: { external_labels: { runbooks: string } } }
  t.ok(labels.global.external_labels.runbooks)
  const { expr } = rules.find(({ alert }) => alert === 'NoLeader')!
  for (const name of ['projector', 'processes', 'relay'])
    t.ok(expr.includes(`absent(leading{name="${name}"})`), name)
})
