import { randomUUID } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mailer } from '../../packages/kernel/ports.ts'

export interface FileMailOptions {
  readonly directory: string
  readonly from: string
}

/** Without a mail server, each mail is written to a directory as an `.eml` file, which mail programs open. */
export function fileMailer({ directory, from }: FileMailOptions): Mailer {
  return {
    async send({ to, subject, text, html }) {
      // Loaded with the first mail.
      const { createTransport } = await import('nodemailer')
      const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
      const { message } = await composer.sendMail({ from, to, subject, text, ...(html && { html }) })
      await mkdir(directory, { recursive: true })
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`
      // Renamed into place once it is complete.
      await writeFile(join(directory, `.${name}`), message)
      await rename(join(directory, `.${name}`), join(directory, name))
    },
  }
}
