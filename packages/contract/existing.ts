import { refuse } from './refusals.ts'

interface Stated {
  readonly status: string
}

/** Of what is not there: not yet, not any more, or given up before it began. */
interface Gone {
  readonly status: 'none' | 'deleted' | 'abandoned'
}

export type Existing<S extends Stated> = Exclude<S, Gone>

/** For decisions: a command is about something that is there. */
export function existing<S extends Stated>(state: S): Existing<S> {
  return isThere(state) ? state : refuse('resource_must_exist')
}

/** For folding, which refuses nobody: a history that continues without a beginning is a bug. */
export function begun<S extends Stated>(state: S): Existing<S> {
  if (isThere(state)) return state
  throw new Error(`the stream goes on although what it is about is ${state.status}`)
}

function isThere<S extends Stated>(state: S): state is Existing<S> {
  const { status } = state
  return status !== 'none' && status !== 'deleted' && status !== 'abandoned'
}
