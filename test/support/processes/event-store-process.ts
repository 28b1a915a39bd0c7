import { openEmbeddedStore } from '../../../infra/event-store/embedded/store.ts'
import { noStream } from '../../../packages/kernel/ports.ts'
import { newEvent, newStream } from '../event-store/event-store-samples.ts'

/** A process that appends to streams of one category: 50 streams at once, 40 events each. */
const [url = '', category = ''] = process.argv.slice(2)
const store = await openEmbeddedStore({ url })
await Promise.all(
  Array.from({ length: 50 }, async () => {
    const stream = newStream(category)
    let revision = noStream
    while (revision < 39) revision = (await store.append(stream, revision, [newEvent()])).revision
  }),
)
await store.close()
process.stdout.write('done\n')
