import { MailDeferredError, MailRefusedError, type Mailer } from '../../packages/kernel/ports.ts'

export interface SmtpOptions {
  /** `smtps://user:password@mail.example.com`, chosen by the operator of this service. */
  readonly url: string
  readonly from: string
  readonly timeoutMs: number
}

/** Sends over one persistent connection; rejects when the mail server did not accept the mail. */
export function smtpMailer({ from, ...options }: SmtpOptions): Mailer & { close(): Promise<void> } {
  let opened: ReturnType<typeof openTransport> | undefined
  return {
    async send({ to, subject, text, html }) {
      const transport = await (opened ??= openTransport(options))
      try {
        await transport.sendMail({ from, to, subject, text, ...(html && { html }) })
      } catch (error) {
        throw withoutAddresses(error)
      }
    },
    async close() {
      const transport = await opened
      transport?.close()
    },
  }
}

async function openTransport({ url, timeoutMs }: Omit<SmtpOptions, 'from'>) {
  // Loaded with the first mail.
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    pool: true,
    maxConnections: 1,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // Mail text is always our own, but nothing in it may make nodemailer read a file or fetch a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** Mail servers answer with the address that they do not take, and nodemailer adds it: it is not for logs. */
function withoutAddresses(error: unknown): Error {
  const { code, message } = error as { readonly code?: string; readonly message: string }
  const told = message.replaceAll(/[^\s<>]+@[^\s<>]+/g, '…')
  const { command, status } = answerIn(error)
  const isAboutMail = (command === 'EENVELOPE' || command === 'EMESSAGE') && status !== goingAway
  if (isAboutMail && status >= 500) return new MailRefusedError(told)
  if (isAboutMail && status >= 400) return new MailDeferredError(told)
  return Object.assign(new Error(told), { code })
}

/** RFC 5321, 3.8: the server itself ends, whatever it was told. */
const goingAway = 421

/** RFC 5321, 4.2.1: after a 5xx answer, a recipient or message is not to be retried as it is. */
function answerIn(error: unknown) {
  const { code: command, responseCode: status = 0 } = error as { code?: string; responseCode?: number }
  return { command, status }
}
