import { join } from 'node:path'
import type { Configuration } from '../../../infra/configuration.ts'
import { fileMailer } from '../../../infra/mail/files.ts'
import { smtpMailer } from '../../../infra/mail/smtp.ts'
import { fileTexter } from '../../../infra/sms/files.ts'
import { gatewayTexter } from '../../../infra/sms/gateway.ts'
import type { Mailer } from '../../../packages/kernel/ports.ts'
import type { Texter } from '../../../packages/kernel/ports/texts.ts'

const smtpTimeoutMs = 10_000
const smsTimeoutMs = 10_000

export function openMailer({
  smtpUrl,
  mailFrom,
  dataDirectory,
}: Configuration): Mailer & { close?(): Promise<void> } {
  if (smtpUrl !== undefined) return smtpMailer({ url: smtpUrl, from: mailFrom, timeoutMs: smtpTimeoutMs })
  return fileMailer({ directory: join(dataDirectory, 'mail'), from: mailFrom })
}

export function openTexter({ smsUrl, smsFrom, dataDirectory }: Configuration): Texter {
  if (smsUrl !== undefined) return gatewayTexter({ url: smsUrl, from: smsFrom, timeoutMs: smsTimeoutMs })
  return fileTexter({ directory: join(dataDirectory, 'sms') })
}
