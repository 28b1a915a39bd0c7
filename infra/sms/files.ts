import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Texter } from '../../packages/kernel/ports/texts.ts'

/** Without a gateway, each message is written to a directory as a `.json` file. */
export function fileTexter({ directory }: { readonly directory: string }): Texter {
  return {
    async send(message) {
      await mkdir(directory, { recursive: true })
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${message.id}.json`
      // Renamed into place once it is complete.
      await writeFile(join(directory, `.${name}`), JSON.stringify(message))
      await rename(join(directory, `.${name}`), join(directory, name))
    },
  }
}
