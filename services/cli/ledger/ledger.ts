import type { Command } from 'commander'
import { NoSpaceLeftError } from '../../../infra/history/spare-space.ts'
import { Checkpoints } from '../../../infra/postgres/consumers/checkpoints.ts'
import { noteUpkeep } from '../../../infra/postgres/upkeep.ts'
import type { Irregularity } from '../../../packages/kernel/ports.ts'
import { readModels } from '../../../projections/index.ts'
import { deciders } from '../../../packages/domain/index.ts'
import { commandOf } from '../terminal/arguments.ts'
import { foldBooks, type BookBalances, type Replayed } from '../../audit/balances.ts'
import type { Comparison, Difference } from '../../audit/differences.ts'
import { compareReadModels } from '../../audit/compare.ts'
import { verifyLog, type Verified } from '../../audit/verify.ts'
import { rules, type Rule, type Violation } from '../../audit/violations.ts'
import { CommandFailedError, exitCodes } from '../terminal/failure.ts'
import { withRuntime } from '../dependencies.ts'
import { addExplain } from './explain.ts'
import { addReversal } from './reversal.ts'
import { counted, grouped, print, progress, table, type Printing } from '../terminal/output.ts'

export function addLedger(program: Command): void {
  const ledger = program.command('ledger').description('the books, counted again from the log')
  commandOf(
    ledger,
    'replay',
    'fold the log from its first event, print all balances, and compare with every read model',
  ).action(replay)
  commandOf(
    ledger,
    'verify',
    'check the rules of double entry over the whole log, with arithmetic of its own',
  ).action(verify)
  addExplain(ledger)
  addReversal(ledger)
}

async function replay(options: Printing): Promise<void> {
  const { replayed, compared, irregular } = await withRuntime(
    async ({ postgres: { pool }, dependencies: { store } }) => {
      const folding = progress('folding books ')
      const replayed = await foldBooks({ store, deciders, onProgress: folding.show })
      folding.end()
      const comparing = progress('comparing rows')
      const compared = await compareReadModels({
        pool,
        store,
        deciders,
        models: readModels,
        onProgress: comparing.show,
      }).catch((error: unknown) => {
        if (!(error instanceof NoSpaceLeftError)) throw error
        throw new CommandFailedError(
          `The read models were not compared: ${error.message}. TMPDIR names another place.`,
        )
      })
      comparing.end()
      return { replayed, compared, irregular: await store.irregularities() }
    },
  )
  const differences = [...faultsOf(replayed), ...irregular.map(asDifference), ...compared.differences]
  const { position, events, books } = replayed
  const report = { position, entries: events, books, models: compared.models, differences }
  // Also those that are not named.
  const found = sum([
    differences.length - compared.differences.length,
    ...compared.models.map((model) => model.differences),
  ])
  print({ ...report, found }, options, () => replayText(replayed, { ...compared, differences, found }))
  if (differences.length > 0) process.exitCode = exitCodes.found
}

function faultsOf({ faults }: Replayed): readonly Difference[] {
  return [...faults].map(([stream, fault]) => ({
    model: 'log',
    row: stream,
    problem: `cannot be folded: ${fault}`,
  }))
}

function asDifference({ stream, problem }: Irregularity): Difference {
  return { model: 'log', row: stream, problem }
}

function replayText(
  { position, events, books }: Replayed,
  { models, differences, found }: Comparison & { readonly found: number },
): string {
  const rows = models.reduce((sum, each) => sum + each.rows, 0)
  const compared = models.map(({ name, ...rest }) => ({ 'read model': name, ...rest }))
  const verdict =
    differences.length === 0
      ? `All ${models.length} read models say what the log says (${grouped(rows)} rows).`
      : `${counted(found, 'difference')}:\n${differences.map(sentence).join('\n')}`
  return [
    ...books.map(bookText),
    `${grouped(events)} journal entries in ${counted(books.length, 'book')}, up to position ${position}`,
    table(compared, ''),
    verdict,
  ].join('\n\n')
}

function bookText({ environment, currency, merchant, accounts }: BookBalances): string {
  const lines = accounts.map(({ account, class: kind, balance }) => ({ account, class: kind, balance }))
  return `${currency} ${environment}, merchant ${merchant}\n${table(lines, 'All accounts are at zero.')}`
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

function sentence({ model, row, problem }: Difference): string {
  return `  ${model}${row && ` ${row}`}: ${problem}`
}

async function verify(options: Printing): Promise<void> {
  const verified = await withRuntime(async ({ postgres: { pool }, dependencies: { store, clock } }) => {
    const { position: policiesThrough } = await new Checkpoints(pool).load('policies')
    const bar = progress('counting')
    const now = clock()
    const result = await verifyLog({ store, deciders, policiesThrough, now, onProgress: bar.show })
    bar.end()
    const { position, violations } = result
    if (violations.length === 0) await noteUpkeep(pool, { task: 'verification', position, at: now })
    return result
  })
  print({ ...verified, rules: counts(verified) }, options, () => verifyText(verified))
  if (verified.violations.length > 0) process.exitCode = exitCodes.found
}

function counts({ counts }: Verified) {
  return (Object.keys(rules) as Rule[]).map((rule) => {
    return {
      rule,
      meaning: rules[rule],
      violations: counts[rule] ?? 0,
    }
  })
}

function verifyText(verified: Verified): string {
  const { position, events, streams, entries, books, openHolds, pending, violations } = verified
  const lines = counts(verified).map(({ rule, meaning, violations: broken }) => {
    const verdict = broken === 0 ? 'ok' : `${broken} times broken`
    return `  ${rule.padEnd(8)} ${meaning}: ${verdict}`
  })
  const verdict =
    violations.length === 0
      ? 'No rule is broken.'
      : `${counted(sum(Object.values(verified.counts)), 'violation')}:\n${violations.map(violationText).join('\n')}`
  return [
    `${counted(events, 'event')} in ${counted(streams, 'stream')} up to position ${position}`,
    `${grouped(entries)} journal entries in ${counted(books, 'book')}, ${pending} on their way; ` +
      counted(openHolds, 'open hold'),
    lines.join('\n'),
    verdict,
  ].join('\n\n')
}

function violationText({ rule, problem }: Violation): string {
  return `  ${rule}: ${problem}`
}
