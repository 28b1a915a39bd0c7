import { record, Type } from '../../../packages/contract/vocabulary.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { Decider } from '../../../packages/kernel/decider.ts'
import { stored, type EventsOf } from '../../../packages/kernel/event-types.ts'
import { ownerOf, type Owner, type OwnerKind } from '../../../packages/kernel/owner.ts'
import { documents } from '../../../packages/kernel/projection.ts'
import { start, timerHandlers } from '../../../packages/kernel/timer.ts'
import { show, history, list, type AnyRoute } from '../../../packages/contract/routes.ts'
import { timers } from '../../../projections/timers.ts'

const events = { PageWritten: stored(1, record({ text: Type.String() })) }
type Events = EventsOf<typeof events>

export interface Notebook {
  readonly owner: Owner | undefined
  readonly status: 'none' | 'begun'
  readonly texts: readonly string[]
  readonly last: string | null
}

/** The same small family for every kind of owner: a notebook that keeps what is written into it. */
export function notebookOf(kind: OwnerKind) {
  const decider: Decider<Notebook, { WritePage: { text: string } }, Events, Owner> = {
    category: `notebook_${kind}`,
    owners: [kind],
    events,
    initial: () => ({ owner: undefined, status: 'none', texts: [], last: null }),
    decide: {
      WritePage({ text }, { texts }) {
        if (text === '') refuse('resource_must_not_exist_yet')
        return texts.includes(text) ? [] : [{ type: 'PageWritten', data: { text } }]
      },
    },
    evolve: {
      PageWritten: (state, { text }, stamp) => ({
        owner: ownerOf(stamp),
        status: 'begun',
        texts: [...state.texts, text],
        last: text,
      }),
    },
  }
  const model = documents(decider, { name: `notebooks_${kind}`, version: 1, columns: { last: 'text' } })
  return { kind, decider, model, rows: rowsOf(kind, model) }
}

const Shown = record({ id: Type.String(), texts: Type.Array(Type.String()) })

function rowsOf(kind: OwnerKind, from: ReturnType<typeof documents<Notebook, never, never, Owner>>) {
  const view = (id: string, { texts }: Notebook) => ({ id, texts: [...texts] })
  const common = { summary: 'Test', scope: 'public', params: { id: 'text' }, view, from } as const
  const path = `/test/${kind}/notebooks` as const
  return {
    show: show(`GET ${path}/{id}`, { ...common, returns: Shown }) as unknown as AnyRoute,
    history: history(`GET ${path}/{id}/history`, { ...common, returns: Shown }) as unknown as AnyRoute,
    list: list(`GET ${path}`, { ...common, returns: Shown, paging: 'page' }) as unknown as AnyRoute,
  }
}

/** Each page of a notebook is to be read again when it is a year old. */
export const notebookTimers = {
  ...timers,
  name: 'timers',
  on: timerHandlers<Events, Owner>({
    PageWritten: (event) => [start('reread', event.id, event, new Date('2027-01-01T00:00:00Z'))],
  }),
}
