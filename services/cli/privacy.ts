import { InvalidArgumentError, type Command } from 'commander'
import { publicId } from '../../packages/contract/identity.ts'
import { idPrefixes } from '../../packages/domain/index.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { erase, StillNeededError, type Erased } from '../privacy/erase.ts'
import { invitationsOf } from '../privacy/invitations.ts'
import { userIn } from '../privacy/leave.ts'
import {
  contactOf,
  namesContact,
  namesUser,
  personOf,
  userNamed,
  waysToName,
  type Person,
} from '../privacy/person.ts'
import { tracesOf, type Trace } from '../privacy/traces.ts'
import { commandOf, idOf } from './terminal/arguments.ts'
import { withRuntime } from './dependencies.ts'
import { CommandFailedError, exitCodes } from './terminal/failure.ts'
import { counted, print, type Printing } from './terminal/output.ts'
import { rebuildModels } from './projections.ts'
import { signed, type Signed } from './audit/signed.ts'

interface Naming extends Printing {
  readonly merchant?: string
  readonly sandbox?: true
}

export function addPrivacy(program: Command): void {
  const group = program.command('privacy').description('what is known about a person: show it, erase it')
  personIn(commandOf(group, 'export', 'everything that the log says about a person, as JSON')).action(
    (who: string, options: Naming) => withRuntime((runtime) => exportPerson(runtime, who, options)),
  )
  personIn(signed(commandOf(group, 'erase', 'destroy the keys of a person, and redact all copies'))).action(
    (who: string, options: Naming & Signed) => withRuntime((runtime) => erasePerson(runtime, who, options)),
  )
}

function personIn(command: Command): Command {
  return command
    .argument('<person>', waysToName, person)
    .option('--merchant <id>', 'whose payments and payouts name the number or account', idOf())
    .option('--sandbox', 'in the sandbox instead of the live environment')
}

function person(text: string): string {
  if (namesContact(text) || namesUser(text) || /^[a-z]+_[0-9a-f]{32}$/.test(text)) return text
  throw new InvalidArgumentError(`It must be ${waysToName}.`)
}

async function named(runtime: Runtime, who: string, { merchant, sandbox }: Naming): Promise<Person> {
  if (!namesContact(who)) {
    const { dependencies } = runtime
    const found = namesUser(who)
      ? await userNamed(dependencies, who)
      : await personOf(dependencies.store, who)
    if (found) return found
    throw new CommandFailedError(`There is no ${who}.`)
  }
  if (merchant) return contactOf(who, { merchant, livemode: !sandbox })
  throw new CommandFailedError('Say with --merchant whose payments and payouts are meant.')
}

async function exportPerson(runtime: Runtime, who: string, options: Naming): Promise<void> {
  const { store } = runtime.dependencies
  const { person, traces: own } = await tracesOf(store, await named(runtime, who, options))
  const traces = [...own, ...(await invitationTraces(store, person))]
  if (traces.length === 0) throw new CommandFailedError(`Nothing is known about ${who}.`)
  const told = { person: who, known_as: person.subjects, events: traces.map(shown) }
  print(told, { json: true }, () => '')
}

/** Of the invitations that a user has accepted. */
async function invitationTraces(store: EventStore, { subjects }: Person): Promise<readonly Trace[]> {
  const account = userIn(subjects)
  if (account === undefined) return []
  const found: Trace[] = []
  for (const person of await invitationsOf(store, account))
    found.push(...(await tracesOf(store, person)).traces)
  return found
}

function shown({ event: { type, category, id, position, data, metadata } }: Trace) {
  const prefix = idPrefixes[category]
  return {
    at: metadata.at,
    type,
    object: category,
    id: prefix === undefined ? id : publicId(prefix, id),
    log_position: position,
    actor: metadata.actor,
    data,
  }
}

async function erasePerson(runtime: Runtime, who: string, options: Naming & Signed): Promise<void> {
  const { by, reason } = options
  const erasing = {
    person: await named(runtime, who, options),
    by,
    reason,
    rebuild: (models: Parameters<typeof rebuildModels>[1]) => rebuildModels(runtime, models),
    onStep: (step: string) => void process.stderr.write(`${step} …\n`),
  }
  const erased = await erase(runtime, erasing).catch((error: unknown) => {
    if (!(error instanceof StillNeededError)) throw error
    throw new CommandFailedError(`Nothing was erased: ${error.matters.join('; ')}.`)
  })
  print({ person: who, ...erased }, options, () => erasedText(who, erased))
  if (erased.left.length > 0) process.exitCode = exitCodes.found
}

function erasedText(who: string, { streams, clear, left, merchants }: Erased): string {
  const places = left.map(({ table, rows }) => `  ${table}: ${counted(rows, 'row')}`)
  return [
    `${who} is erased from ${counted(streams, 'resource')}.`,
    ...(clear > 0
      ? [`${counted(clear, 'event')} written before events were sealed still say what they said.`]
      : []),
    ...(merchants.length > 0 ? [`Kept: what merchants call their own (${merchants.join(', ')}).`] : []),
    left.length === 0 ? 'Nothing is left in the database.' : `Left in the database:\n${places.join('\n')}`,
    'Exports, older backups, the broker’s messages and the webhooks already sent are yours to see to: ' +
      '"Erasing a person" in docs/operations.md.',
  ].join('\n')
}
