import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { chart } from './chart.ts'
import { startSoakFixture, type SoakFixture, type Mode } from './fixture.ts'
import { judge, type Series, type Verdict } from './checker.ts'
import { Merchant, openSink } from './load.ts'
import { Recorder, type SoakTarget } from './recorder.ts'

/*
 * make soak MINUTES=10                      every service apart, with a broker of its own
 * make soak MINUTES=10 MODE=all-in-one      everything in one process
 * make soak … RATE=50 FILL=25000 DIR=…      units a second; units before it is measured; where it is kept
 */

const given = process.argv.slice(2).map((argument) => argument.split('='))
const settings: ReadonlyMap<string, string> = new Map(given.map(([name = '', value = '']) => [name, value]))
const minutes = Number(settings.get('MINUTES') || 10)
const mode: Mode = settings.get('MODE') === 'all-in-one' ? 'all-in-one' : 'distributed'
const rate = Number(settings.get('RATE') || 40)
/** More than any cache of streams holds: they are full before anything is measured. */
const fill = Number(settings.get('FILL') || 25_000)
const directory = resolve(
  settings.get('DIR') || join('.data', 'soak', new Date().toISOString().replaceAll(':', '-')),
)
const everyMs = 3_000
const caughtUpEvents = 500

mkdirSync(directory, { recursive: true })
let failure: string | undefined
const fixture = await startSoakFixture(mode, join(directory, 'data'))
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
try {
  failure = await soak(fixture)
} finally {
  await fixture.stop()
}
if (failure !== undefined) {
  process.stderr.write(`soak: ${failure}\n`)
  process.exitCode = 1
}
process.exit()

/** Answers in a sentence what is wrong, if anything is. */
async function soak({ watched, apiPort, sandboxKey }: SoakFixture): Promise<string | undefined> {
  const target = { watched, dataDirectory: join(directory, 'data') }
  const sink = await openSink()
  const merchant = new Merchant({ port: apiPort, sandboxKey })
  say(`filling the caches with ${fill} payouts and payments`)
  await merchant.fill(fill, { signal: stopped.signal, tell: (done) => say(`  ${done}`) })
  await caughtUp(target)
  await merchant.subscribe(sink.url)
  say(`${rate} units a second for ${minutes} minutes, ${mode}`)
  const record = await watch(merchant, target)
  sink.close()
  const { series } = record
  keep(series)
  const verdicts = series.map(judge)
  say(table(series, verdicts))
  say(`${merchant.done} units, ${sink.received()} webhooks; chart and samples in ${directory}`)
  return complaint(merchant, verdicts)
}

/** Lists, webhooks and policies have seen all that was written so far. */
async function caughtUp(target: SoakTarget): Promise<void> {
  const record = new Recorder(target)
  for (let calm = 0; calm < 2 && !stopped.signal.aborted; await pause(1_000)) {
    await record.look()
    const pending = record.of('deliveries to be made') ?? record.of('deliveries to be made, api') ?? 0
    calm = record.lag < caughtUpEvents && pending < caughtUpEvents ? calm + 1 : 0
  }
}

async function watch(merchant: Merchant, target: SoakTarget): Promise<Recorder> {
  const record = new Recorder(target)
  const ending = stopped.signal
  // Not AbortSignal.any: in Node 20 the time-out that only it refers to is collected, and never comes.
  const timer = setTimeout(() => stopped.abort(), minutes * 60_000)
  const load = merchant.keep(rate, ending)
  while (!ending.aborted) {
    await record.look()
    await pause(everyMs, undefined, { signal: ending }).catch(() => undefined)
  }
  clearTimeout(timer)
  await load
  return record
}

function complaint({ failures }: Merchant, verdicts: readonly Verdict[]): string | undefined {
  const growing = verdicts.filter(({ grows }) => grows)
  if (failures.length > 0) return `${failures.length} requests failed, the first: ${failures[0]}`
  const sentences = growing.map(
    ({ name, growth, allowed, level, unit }) =>
      `the ${name} grew by ${round(growth)} ${unit} in the second half, from about ${round(level)} ` +
      `(allowed are ${round(allowed)})`,
  )
  return sentences.length > 0 ? sentences.join('; ') : undefined
}

function keep(series: readonly Series[]): void {
  const rows = series.flatMap(({ name, unit, points }) =>
    points.map(({ seconds, value }) => `${seconds.toFixed(1)},"${name}",${unit},${round(value)}`),
  )
  writeFileSync(join(directory, 'samples.csv'), `${['seconds,series,unit,value', ...rows].join('\n')}\n`)
  const startingWith = (start: string) => series.filter(({ name }) => name.startsWith(start))
  const panels = [
    { title: 'Resident memory, MB', series: [...startingWith('RSS'), ...startingWith('own memory')] },
    { title: 'Heap in use, MB', series: startingWith('heap') },
    { title: 'Events that a consumer is behind', series: startingWith('lag') },
    { title: 'Queues', series: series.filter(({ unit }) => unit === 'items') },
  ]
  writeFileSync(join(directory, 'chart.svg'), chart(`Soak: ${mode}, ${rate} units a second`, panels))
}

function table(series: readonly Series[], verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ name, unit, level, growth, allowed, grows }, index) => {
    const values = series[index]!.points.map(({ value }) => value)
    const numbers = [values[0] ?? 0, level, values.at(-1) ?? 0, Math.max(0, ...values), growth, allowed]
    const cells = numbers.map((number) => String(round(number)).padStart(9)).join('')
    return `${name.padEnd(46)}${unit.padEnd(7)}${cells}  ${grows ? 'GROWS' : 'steady'}`
  })
  const names = ['first', 'middle', 'last', 'most', 'growth', 'allowed']
  const head = `${''.padEnd(53)}${names.map((name) => name.padStart(9)).join('')}`
  return ['', head, ...rows, ''].join('\n')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
