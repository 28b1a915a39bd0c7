import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningService } from '../../../services/all-in-one/start.ts'
import { eventually } from '../eventually.ts'

type Running = Pick<RunningService, 'runtime'>

/** Mails to an address that say this, oldest first, as text. */
export function mailsTo({ runtime }: Running, address: string, what = /./): readonly string[] {
  const directory = join(runtime.configuration.dataDirectory, 'mail')
  if (!existsSync(directory)) return []
  // What is still being written begins with a dot.
  const names = readdirSync(directory).filter((name) => /^[^.].*\.eml$/.test(name))
  return names
    .toSorted()
    .map((name) => decoded(readFileSync(join(directory, name), 'latin1')))
    .filter((mail) => mail.includes(`To: ${address}`) && what.test(mail))
}

/** Quoted-printable is how mails write what is not ASCII. */
function decoded(mail: string): string {
  const byte = (_: string, hex: string) => String.fromCharCode(parseInt(hex, 16))
  const bytes = mail.replaceAll(/=\r\n/g, '').replaceAll(/=([0-9A-F]{2})/g, byte)
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** The newest such mail, as soon as there is one. */
export async function mailTo(service: Running, address: string, what: RegExp): Promise<string> {
  const find = async () => mailsTo(service, address, what).at(-1)
  return (await eventually(find, (found) => found !== undefined))!
}

/** The token of the newest mail that leads to this page. */
export async function mailedToken(service: Running, address: string, page: string): Promise<string> {
  const pattern = new RegExp(`/${page}#token=([\\w.-]+)`)
  return pattern.exec(await mailTo(service, address, pattern))![1]!
}

/** The newest message to a telephone, as soon as there is one. */
export async function textTo({ runtime }: Running, phone: string): Promise<string> {
  const directory = join(runtime.configuration.dataDirectory, 'sms')
  const find = async () =>
    (existsSync(directory) ? readdirSync(directory) : [])
      .filter((name) => /^[^.].*\.json$/.test(name))
      .toSorted()
      .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as { to: string; text: string })
      .findLast(({ to }) => to === phone)
  return (await eventually(find, (found) => found !== undefined))!.text
}
