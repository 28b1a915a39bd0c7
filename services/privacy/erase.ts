import { join } from 'node:path'
import { deleteMailsWith } from '../../infra/mail/erase.ts'
import { Erasures } from '../../infra/postgres/privacy/erasures.ts'
import {
  placesOf,
  redactCopies,
  type ErasedStream,
  type TableMatches,
  type Sought,
} from '../../infra/postgres/privacy/redaction.ts'
import { ownerText, type Owner } from '../../packages/kernel/owner.ts'
import { subjectName } from '../../packages/kernel/personal.ts'
import type { ReadModel } from '../../packages/kernel/projection.ts'
import { longEnough } from '../../packages/kernel/redaction.ts'
import { readModels } from '../../projections/index.ts'
import { merchants as merchantModel } from '../../projections/merchants.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { invitationsOf, isInvitation } from './invitations.ts'
import { freeClaims, leave, membershipsOf, neededBy, userIn } from './leave.ts'
import { openMatters } from './open-matters.ts'
import type { Person } from './person.ts'
import { tracesOf, type Traces } from './traces.ts'

/** What an erasure needs to know until it is done. Sealed with the master key while it lasts. */
interface WorkList {
  readonly subjects: readonly string[]
  readonly streams: readonly ErasedStream[]
  /** Of events, for the read models that are made from them. */
  readonly types: readonly string[]
  /** Events that were written before there were seals. */
  readonly clear: number
}

export interface Erasing {
  readonly person: Person
  readonly by: string
  readonly reason: string
  readonly rebuild: (models: readonly ReadModel[]) => Promise<void>
  /** Called before each step. */
  readonly onStep?: (step: string) => void
}

export interface Erased {
  readonly streams: number
  /** Of these, events that stay as they are. */
  readonly clear: number
  /** Where the texts still stand. */
  readonly left: readonly TableMatches[]
  /** For which a user worked: they keep their own names and addresses. */
  readonly merchants: readonly string[]
}

/** Payments, payouts or refunds need the name or number: nothing was erased. */
export class StillNeededError extends Error {
  override readonly name = 'StillNeededError'
  readonly matters: readonly string[]

  constructor(matters: readonly string[]) {
    super('it is still needed')
    this.matters = matters
  }
}

/**
 * Erases a person. Killed between any two steps, it is completed by running it again: what is to be redacted
 * is written down before the keys are gone.
 */
export async function erase(runtime: Runtime, erasing: Erasing): Promise<Erased> {
  const { person, rebuild, onStep = () => undefined } = erasing
  const { owner } = person
  const { pool } = runtime.postgres
  const { work, merchants, done } = await prepare(runtime, { onStep, ...erasing })
  const invitations = await eraseInvitations(runtime, erasing)

  onStep('redacting copies')
  await redactCopies({ pool, owner, streams: work.streams })

  onStep('destroying the keys')
  await runtime.dependencies.personalKeys.destroyRetired(namesOf({ owner, subjects: work.subjects }))

  onStep('building read models anew')
  await rebuild(modelsOf(work))

  // Of what was made from the log until the keys were gone.
  onStep('redacting copies once more')
  await redactCopies({ pool, owner, streams: work.streams })
  const sought = soughtFor(work, owner)
  const { dataDirectory } = runtime.configuration
  await deleteMailsWith(join(dataDirectory, 'mail'), sought.contacts)
  await deleteMailsWith(join(dataDirectory, 'sms'), sought.contacts)

  onStep('searching for what is left')
  const left = [...invitations.flatMap((each) => each.left), ...(await placesOf(pool, sought))]
  await freeAddress(runtime, erasing)
  // Nothing takes out of the log what was written there in the clear.
  if (left.every(({ table }) => table === 'public.events')) await done()
  const streams = invitations.reduce((sum, each) => sum + each.streams, work.streams.length)
  return { streams, clear: work.clear, left, merchants }
}

/** By its address a user is named when this is run again, so it is free last. */
async function freeAddress(runtime: Runtime, { person, by, onStep }: Erasing): Promise<void> {
  const id = userIn(person.subjects)
  if (id === undefined) return
  onStep?.('letting others have the address')
  await freeClaims(runtime, { id, by })
}

/** Of a user, as far as they were accepted: nobody else knows whose they were. */
async function eraseInvitations(runtime: Runtime, erasing: Erasing): Promise<readonly Erased[]> {
  const account = userIn(erasing.person.subjects)
  if (account === undefined) return []
  const erased: Erased[] = []
  for (const person of await invitationsOf(runtime.dependencies.store, account))
    erased.push(await erase(runtime, { ...erasing, person }))
  return erased
}

interface Prepared {
  readonly work: WorkList
  readonly merchants: Erased['merchants']
  readonly done: () => Promise<void>
}

/** Until here nothing is lost: the keys are retired, and what is to be done is written down. */
async function prepare(
  runtime: Runtime,
  { person, onStep, ...asked }: Erasing & Required<Pick<Erasing, 'onStep'>>,
): Promise<Prepared> {
  const { personalKeys, store, vault, blindIndex } = runtime.dependencies
  const erasures = new Erasures(runtime.postgres.pool)
  const digest = await blindIndex(JSON.stringify(['erasure', ownerText(person.owner), ...person.subjects]))
  const context = `erasure/${digest}`

  onStep('looking for what is on its way')
  const sealed = await erasures.begun(digest)
  const before = sealed === undefined ? nothing : (JSON.parse(vault.open(sealed, context)) as WorkList)
  const subjects = [...new Set([...person.subjects, ...before.subjects])]
  const known = await tracesOf(store, { ...person, subjects })
  await requireEnded(runtime, known)

  const merchants = await closeAccount(runtime, { person, by: asked.by, onStep })

  onStep('retiring the keys')
  await personalKeys.retire(namesOf(known.person))

  onStep('looking again')
  const found = await tracesOf(store, known.person)
  await requireEnded(runtime, found)
  const work = together(before, workOf(found))
  await erasures.begin({ ...asked, person: digest }, vault.seal(JSON.stringify(work), context))
  return { work, merchants, done: () => erasures.end(digest) }
}

/** Of a user, whom nobody must need any more; answers the merchants for which the user worked. */
async function closeAccount(
  runtime: Runtime,
  { person, by, onStep }: Pick<Erasing, 'person' | 'by'> & Required<Pick<Erasing, 'onStep'>>,
): Promise<Erased['merchants']> {
  const id = userIn(person.subjects)
  if (id === undefined) return []
  onStep(`closing the account of user ${id}`)
  const memberships = await membershipsOf(runtime.dependencies.store, id)
  const needed = neededBy(memberships, id)
  if (needed.length > 0) throw new StillNeededError(needed)
  await leave(runtime, { id, by }, memberships)
  return memberships.map(({ merchant }) => merchant)
}

const nothing: WorkList = { subjects: [], streams: [], types: [], clear: 0 }

async function requireEnded({ dependencies: { store } }: Runtime, traces: Traces): Promise<void> {
  const matters = await openMatters(store, traces)
  if (matters.length > 0) throw new StillNeededError(matters)
}

function namesOf({ owner, subjects }: Person): readonly string[] {
  return subjects.map((about) => subjectName(owner, about))
}

function workOf({ person, traces }: Traces): WorkList {
  const streams = new Map<string, ErasedStream>()
  for (const { event, texts, maps } of traces) {
    const { stream, category, id } = event
    const known = streams.get(stream) ?? { stream, id, resource: `${category}/${id}`, texts: [], maps: false }
    const all = [...new Set([...known.texts, ...texts, ...texts.flatMap(lastDigits)])]
    streams.set(stream, { ...known, texts: all, maps: known.maps || maps })
  }
  return {
    subjects: person.subjects,
    streams: [...streams.values()],
    types: [...new Set(traces.map(({ event }) => event.type))],
    clear: traces.filter(({ isClear }) => isClear).length,
  }
}

/** Payments show those of the number that paid. */
function lastDigits(text: string): readonly string[] {
  return /^\+\d+$/.test(text) ? [text.slice(-4)] : []
}

function together(before: WorkList, now: WorkList): WorkList {
  const streams = new Map(now.streams.map((one) => [one.stream, one]))
  for (const one of before.streams) {
    const { texts, maps } = streams.get(one.stream) ?? one
    const all = [...new Set([...one.texts, ...texts])]
    streams.set(one.stream, { ...one, texts: all, maps: one.maps || maps })
  }
  return {
    subjects: [...new Set([...before.subjects, ...now.subjects])],
    streams: [...streams.values()],
    types: [...new Set([...before.types, ...now.types])],
    clear: Math.max(before.clear, now.clear),
  }
}

function soughtFor({ subjects, streams }: WorkList, owner: Owner): Sought {
  const all = [...new Set(streams.flatMap((stream) => stream.texts))].filter(isLong)
  const isOfUser = userIn(subjects) !== undefined
  const isContact = (text: string) =>
    !isInvitation(subjects) &&
    (text.includes('@') ||
      (isOfUser && /^\+\d+$/.test(text)) ||
      subjects.some((name) => name.endsWith(`/${text}`)))
  return {
    owner,
    contacts: all.filter(isContact),
    texts: all.filter((text) => !isContact(text)),
    ids: streams.flatMap(({ id }) => [id, id.replaceAll('-', '')]),
    // A merchant keeps its own name and address, also where its owner has the same.
    except: isOfUser ? [merchantModel.name] : [],
  }
}

function isLong(text: string): boolean {
  return text.length >= longEnough
}

/** Those that follow events of these types. */
function modelsOf({ types }: WorkList): readonly ReadModel[] {
  return readModels.filter((model) => {
    const followed = model.kind === 'documents' ? model.decider.events : model.on
    return types.some((type) => type in followed)
  })
}
