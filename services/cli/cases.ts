import type { Command } from 'commander'
import { publicId } from '../../packages/contract/identity.ts'
import { caseKinds, supportCase, type SupportCase } from '../../packages/domain/cases/case.ts'
import { idPrefixes } from '../../packages/domain/index.ts'
import type { DocumentRow } from '../../packages/kernel/ports/reads.ts'
import { cases } from '../../projections/cases.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { commandOf, idOf } from './terminal/arguments.ts'
import { withRuntime } from './dependencies.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { print, table, type Printing } from './terminal/output.ts'
import { upToDate, whileProjecting } from './projecting.ts'
import { signed, type Signed } from './audit/signed.ts'

type KnownCase = Exclude<SupportCase, { status: 'none' }>
type CaseRow = DocumentRow & { readonly state: KnownCase }

export function addCases(program: Command): void {
  const group = program.command('cases').description('what people have to decide, because no rule does')

  commandOf(group, 'list', 'open cases, oldest first')
    .option('--all', 'resolved ones as well')
    .action((options: Printing & { all?: true }) => withRuntime((runtime) => list(runtime, options)))

  commandOf(group, 'show', 'one case, and what it is about')
    .argument('<case>', 'its id', idOf())
    .action((id: string, options: Printing) => withRuntime((runtime) => show(runtime, id, options)))

  signed(commandOf(group, 'resolve', 'close a case, with what was decided'))
    .argument('<case>', 'its id', idOf())
    .action((id: string, options: Signed) => withRuntime((runtime) => resolve(runtime, id, options)))
}

async function list(runtime: Runtime, options: Printing & { readonly all?: true }): Promise<void> {
  const rows = await found(runtime, options.all ? [] : [{ column: 'status', operator: '=', value: 'open' }])
  const shown = rows.map(({ id, state }) => ({
    id,
    kind: state.kind,
    status: state.status,
    subject: spelled(state.subject),
    opened_at: state.openedAt,
    reason: state.reason,
  }))
  print(shown, options, () => table(shown, options.all ? 'There are no cases.' : 'No case is open.'))
}

function spelled({ type, id }: KnownCase['subject']): string {
  return publicId(idPrefixes[type]!, id)
}

type Where = Parameters<Runtime['dependencies']['reads']['page']>[0]['where']

const rowsMax = 100

async function found(runtime: Runtime, where: Where): Promise<readonly CaseRow[]> {
  const { reads } = runtime.dependencies
  return whileProjecting(runtime, async () => {
    await upToDate(runtime)
    const rows: CaseRow[] = []
    for (;;) {
      const query = { from: cases.name, where, order: 'created', ascending: true, limit: rowsMax }
      const page = await reads.page<CaseRow>({ ...query, offset: rows.length })
      rows.push(...page.rows)
      if (page.rows.length < rowsMax) return rows
    }
  })
}

async function show(runtime: Runtime, id: string, options: Printing): Promise<void> {
  const { state, merchant, livemode } = await one(runtime, id)
  const { kind, subject, reason, money, openedAt, status } = state
  const shown = {
    id,
    kind,
    status,
    meaning: caseKinds[kind],
    subject: spelled(subject),
    merchant,
    environment: livemode ? 'live' : 'sandbox',
    amount: money?.amount ?? null,
    currency: money?.currency ?? null,
    reason,
    opened_at: openedAt,
    ...(state.status === 'resolved' && { resolved_at: state.resolution.at, note: state.resolution.note }),
  }
  print(shown, options, () => {
    const width = Math.max(...Object.keys(shown).map((name) => name.length))
    const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(width)}  ${value ?? '-'}`)
    return [...lines, '', `\`ikw events show ${shown.subject}\` shows what happened.`].join('\n')
  })
}

async function one(runtime: Runtime, id: string): Promise<CaseRow> {
  const [row] = await found(runtime, [{ column: 'id', operator: '=', value: id }])
  if (row) return row
  throw new CommandFailedError(`There is no case ${id}: \`ikw cases list\` shows their ids.`)
}

async function resolve(runtime: Runtime, id: string, options: Signed): Promise<void> {
  const { merchant, livemode } = await one(runtime, id)
  const { executor, newId } = runtime.dependencies
  const command = { type: 'ResolveCase', data: { note: options.reason } } as const
  const actor = `cli:${options.by}`
  await executor.send(supportCase, id, command, { merchant, livemode, actor, correlation: newId() })
  print({ id, status: 'resolved' }, options, () => `Case ${id} is resolved.`)
}
