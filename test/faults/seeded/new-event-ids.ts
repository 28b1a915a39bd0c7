import { startApi } from '../../../services/api/main.ts'
import { serve } from '../../../services/composition/serve.ts'

/** An API with a bug: an append that is repeated has other event ids than the first try. */
await serve('api', (runtime) => {
  const { store, newId } = runtime.dependencies
  const append = store.append.bind(store)
  store.append = (stream, expected, events) =>
    append(
      stream,
      expected,
      events.map((event) => ({ ...event, id: newId() })),
    )
  return startApi({ runtime })
})
