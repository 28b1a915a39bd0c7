import { createTransport } from 'nodemailer'
import { MailRefusedError, type Mailer } from '../../packages/kernel/ports.ts'

export interface SmtpOptions {
  /** `smtps://user:password@mail.example.com`, chosen by the operator of this service. */
  readonly url: string
  readonly from: string
  readonly timeoutMs: number
}

/** Sends over one persistent connection; rejects when the mail server did not accept the mail. */
export function smtpMailer({ url, from, timeoutMs }: SmtpOptions): Mailer & { close(): void } {
  const transport = createTransport({
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
  return {
    async send({ to, subject, text, html }) {
      try {
        await transport.sendMail({ from, to, subject, text, ...(html && { html }) })
      } catch (error) {
        throw withoutAddresses(error)
      }
    },
    close() {
      transport.close()
    },
  }
}

/** Mail servers answer with the address that they do not take, and nodemailer adds it: it is not for logs. */
function withoutAddresses(error: unknown): Error {
  const { code, message } = error as { readonly code?: string; readonly message: string }
  const told = message.replaceAll(/[^\s<>]+@[^\s<>]+/g, '…')
  return isRefusal(error) ? new MailRefusedError(told) : Object.assign(new Error(told), { code })
}

/** RFC 5321: after a 5xx answer, a recipient or message is not to be retried as it is. */
function isRefusal(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number }
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500
}
