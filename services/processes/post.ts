import { MailRefusedError, type Mail } from '../../packages/kernel/ports.ts'
import type { Tools } from './process.ts'

/** Hands a mail to the mail server. One that it will never take is not tried again. */
export async function post({ dependencies }: Tools, mail: Mail): Promise<void> {
  try {
    await dependencies.mailer.send(mail)
  } catch (error) {
    if (!(error instanceof MailRefusedError)) throw error
    dependencies.log.warn({ subject: mail.subject, error }, 'the mail server does not take this mail')
  }
}
