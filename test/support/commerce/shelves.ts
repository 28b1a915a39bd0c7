import { refuse } from '../../../packages/contract/refusals.ts'
import { change, create, history, list, show, type AnyRoute } from '../../../packages/contract/routes.ts'
import { record, Type } from '../../../packages/contract/vocabulary.ts'
import type { Decider } from '../../../packages/kernel/decider.ts'
import { stored, type EventsOf } from '../../../packages/kernel/event-types.ts'
import { documents } from '../../../packages/kernel/projection.ts'

const shelfEvents = { ShelfPutUp: stored(1, record({})), ShelfRemoved: stored(1, record({})) }
type Shelf = { readonly status: 'none' | 'up' | 'removed' }

/** A small family whose members have children, for what the grammar of rows promises of parents. */
export const shelf: Decider<Shelf, { PutUp: object; Remove: object }, EventsOf<typeof shelfEvents>> = {
  category: 'test_shelf',
  events: shelfEvents,
  initial: () => ({ status: 'none' }),
  decide: {
    PutUp: (_, { status }) => (status === 'none' ? [{ type: 'ShelfPutUp', data: {} }] : []),
    Remove: (_, { status }) => (status === 'up' ? [{ type: 'ShelfRemoved', data: {} }] : []),
  },
  evolve: { ShelfPutUp: () => ({ status: 'up' }), ShelfRemoved: () => ({ status: 'removed' }) },
}

const bookEvents = {
  BookAdded: stored(1, record({ shelf: Type.String(), title: Type.String() })),
  BookRenamed: stored(1, record({ title: Type.String() })),
}
type BookEvents = EventsOf<typeof bookEvents>
type BookCommands = { AddBook: { shelf: string; title: string }; RenameBook: { title: string } }
type Book = { readonly shelf: string; readonly title: string } | { readonly shelf?: undefined }

export const shelfBook: Decider<Book, BookCommands, BookEvents> = {
  category: 'test_shelf_book',
  events: bookEvents,
  initial: () => ({}),
  decide: {
    AddBook: (data, state) => (state.shelf === undefined ? [{ type: 'BookAdded', data }] : []),
    RenameBook({ title }, state) {
      if (state.shelf === undefined) refuse('resource_must_exist')
      return state.title === title ? [] : [{ type: 'BookRenamed', data: { title } }]
    },
  },
  evolve: {
    BookAdded: (_, data) => data,
    BookRenamed: (state, { title }) => ({ ...state, title }) as Book,
  },
}

export const shelves = documents(shelf, { name: 'test_shelves', version: 1, columns: { status: 'text' } })
export const shelfBooks = documents(shelfBook, {
  name: 'test_shelf_books',
  version: 1,
  columns: { shelf: 'text', title: 'text' },
})

const Shown = record({ id: Type.String(), shelf: Type.String(), title: Type.String() })
const Title = record({ title: Type.String() })
const path = '/test/shelves/{shelfId}/books'
const row = {
  summary: 'Test',
  scope: 'settings.write',
  within: { param: 'shelfId', parent: shelves, column: 'shelf' },
  from: shelfBooks,
  returns: Shown,
  view: (id: string, state: Book) => (state.shelf === undefined ? undefined : { id, ...state }),
} as const
const children = { ...row, params: { shelfId: 'text' } } as const
const child = { ...row, params: { shelfId: 'text', id: 'text' } } as const

const rows = {
  create: create(`POST ${path}`, {
    ...children,
    decider: shelfBook,
    command: 'AddBook',
    body: Title,
    data: ({ title }, _, { shelfId }) => ({ shelf: shelfId!, title }),
  }),
  list: list(`GET ${path}`, { ...children, paging: 'page' }),
  show: show(`GET ${path}/{id}`, child),
  history: history(`GET ${path}/{id}/history`, child),
  change: change(`POST ${path}/{id}`, { ...child, decider: shelfBook, command: 'RenameBook', body: Title }),
}

export const shelfRows = rows as unknown as Readonly<Record<keyof typeof rows, AnyRoute>>
