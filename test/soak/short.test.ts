import t from 'tap'
import { chart } from './chart.ts'
import { judge, type Series } from './checker.ts'
import { seeded } from '../support/random.ts'

const minutes = 10
const everySeconds = 3
const noise = seeded(7)

/** A series in megabytes, of its value after so many seconds. */
function series(valueAt: (seconds: number) => number, unit: Series['unit'] = 'MB'): Series {
  const seconds = Array.from({ length: (minutes * 60) / everySeconds }, (_, index) => index * everySeconds)
  return { name: 'heap of api', unit, points: seconds.map((at) => ({ seconds: at, value: valueAt(at) })) }
}

const sawtooth = (seconds: number) => 80 + (seconds % 20) * 3 + noise() * 4

t.test('a heap that fills and is collected does not grow', async (t) => {
  t.notOk(judge(series(sawtooth)).grows)
})

/** What a heap does that gives memory back every five minutes. */
const longTooth = (seconds: number) => {
  const age = (seconds + 290) % 300
  return 120 + Math.min(age, 60) * 0.4 + age * 0.1 + noise()
}

t.test('a tooth of a saw that is as long as the second half is no growth, a leak under it is', async (t) => {
  t.notOk(judge(series(longTooth)).grows)
  t.ok(judge(series((seconds) => longTooth(seconds) + seconds * 0.1)).grows)
})

t.test('a leak under a sawtooth is growth', async (t) => {
  const verdict = judge(series((seconds) => sawtooth(seconds) + seconds * 0.1))
  t.ok(verdict.grows)
  t.ok(Math.abs(verdict.growth - 30) < 6, `${verdict.growth} MB in five minutes`)
})

t.test('a slow leak that stays within the allowance is left to a longer run', async (t) => {
  t.notOk(judge(series((seconds) => sawtooth(seconds) + seconds * 0.02)).grows)
})

t.test('what fills at the start and then stays is no growth', async (t) => {
  t.notOk(judge(series((seconds) => sawtooth(seconds) + Math.min(seconds, 240) * 0.5)).grows)
  t.notOk(judge(series((seconds) => sawtooth(seconds) + (seconds < 60 ? 0 : 120))).grows, 'also at once')
})

t.test('a few peaks are no growth, also near the end', async (t) => {
  const peaks = [480, 540, 570, 597]
  t.notOk(judge(series((seconds) => sawtooth(seconds) + (peaks.includes(seconds) ? 400 : 0))).grows)
})

t.test('a queue that is worked off again and again does not grow, one that is not does', async (t) => {
  const burst = (seconds: number) => (seconds % 60 < 9 ? 4_000 : 0)
  t.notOk(judge(series(burst, 'items')).grows)
  t.ok(judge(series((seconds) => burst(seconds) + seconds * 5, 'items')).grows)
})

t.test('a lag that only rises is growth', async (t) => {
  t.ok(judge(series((seconds) => seconds * 20, 'events')).grows)
  t.notOk(judge(series((seconds) => 200 + noise() * 300 + seconds, 'events')).grows)
})

t.test('too few points say nothing', async (t) => {
  const { points, ...rest } = series((seconds) => seconds * 10)
  t.notOk(judge({ ...rest, points: points.slice(0, 10) }).grows)
  t.notOk(judge({ ...rest, points: [] }).grows)
})

t.test('a chart has a line for each series and says what it shows', async (t) => {
  const drawn = chart('soak & load', [{ title: 'Memory, MB', series: [series(sawtooth)] }])
  t.match(drawn, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
  t.equal(drawn.match(/<polyline /g)?.length, 1)
  t.match(drawn, 'soak &amp; load')
  t.match(drawn, 'heap of api')
  t.notMatch(drawn, /NaN|undefined|Infinity/)
})
