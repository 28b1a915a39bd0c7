import { MailRefusedError, type Mail } from '../../../packages/kernel/ports.ts'
import { TextRefusedError, type TextMessage } from '../../../packages/kernel/ports/texts.ts'
import type { Tools } from '../runner/process.ts'

/** Hands a mail to the mail server. One that it will never take is not tried again. */
export async function post({ dependencies }: Tools, mail: Mail): Promise<void> {
  try {
    await dependencies.mailer.send(mail)
  } catch (error) {
    if (!(error instanceof MailRefusedError)) throw error
    dependencies.log.warn({ subject: mail.subject, error }, 'the mail server does not take this mail')
  }
}

/** The same for a message to a telephone. */
export async function text({ dependencies }: Tools, message: TextMessage): Promise<void> {
  try {
    await dependencies.texter.send(message)
  } catch (error) {
    if (!(error instanceof TextRefusedError)) throw error
    dependencies.log.warn({ message: message.id, error }, 'the SMS gateway does not take this message')
  }
}
