import type { Bench } from './bench.ts'
import type { Contest, Row } from './report/contest.ts'
import type { Measured } from './report/measured.ts'
import { number, type Result } from './report/result.ts'
import { median } from './report/statistics.ts'

/** We and the peer take turns; the median of the rounds counts. Throws when a row cannot be measured. */
export async function measure(bench: Bench, row: Row): Promise<Result> {
  let contest: Contest | undefined
  try {
    contest = await row.prepare(bench)
    await contest.warmUp?.()
    const ours: Measured[] = []
    const peer: Measured[] = []
    for (let round = 1; round <= (row.rounds ?? bench.scale.rounds); round++) {
      ours.push(await contest.ours(round))
      peer.push(await contest.peer(round))
    }
    const checked = await contest.check?.()
    const note = contest.note()
    const missed = contest.missed?.()
    const notes = [note, checked, missed].filter((one) => one).join('; ')
    return { ...resultOf(row, { ours, peer, note: notes }), ...(missed !== undefined && { missed }) }
  } finally {
    await contest?.close()
  }
}

interface Rounds {
  readonly ours: readonly Measured[]
  readonly peer: readonly Measured[]
  readonly note: string
}

function resultOf({ name, unit }: Row, { ours, peer, note }: Rounds): Result {
  const [own, other] = [ours, peer].map((rounds) => median(rounds.map(({ value }) => value)))
  const load = median(ours.flatMap(({ generatorPercent }) => generatorPercent ?? []))
  return {
    name,
    unit,
    ours: own!,
    peer: other!,
    ratio: own! / other!,
    p50_ms: median(ours.map(({ p50Ms }) => p50Ms ?? Number.NaN)),
    p99_ms: median(ours.map(({ p99Ms }) => p99Ms ?? Number.NaN)),
    note: Number.isNaN(load) ? note : `${note}; the load generator used ${number(load)} % of one core`,
  }
}
