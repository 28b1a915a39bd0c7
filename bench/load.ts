import { commandLine } from './support/load-command.ts'
import { make, type Load, type LoadReply, type LoadStop } from './support/load/load.ts'

/** The load generator: a process of its own, controlled by messages or by its command line. */

if (process.send) {
  let stop = new AbortController()
  process.on('message', (message: Load | LoadStop) => {
    if ('stop' in message) return stop.abort()
    stop = new AbortController()
    make(message, stop.signal).then(
      (result) => process.send!({ result } satisfies LoadReply),
      (error: unknown) => process.send!({ failure: String(error) } satisfies LoadReply),
    )
  })
} else {
  await commandLine(make)
}
