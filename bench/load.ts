import { commandLine } from './support/load-command.ts'
import { make, type Load, type LoadReply } from './support/load.ts'

/** The load generator: a process of its own, controlled by messages or by its command line. */

if (process.send) {
  process.on('message', (load: Load) => {
    make(load).then(
      (result) => process.send!({ result } satisfies LoadReply),
      (error: unknown) => process.send!({ failure: String(error) } satisfies LoadReply),
    )
  })
} else {
  await commandLine(make)
}
