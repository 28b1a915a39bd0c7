import type { LinkPurpose } from '../../packages/domain/users/links.ts'
import { user } from '../../packages/domain/users/user.ts'
import { readState } from '../../packages/kernel/history.ts'
import { ownerOf, type Owner } from '../../packages/kernel/owner.ts'
import { MailRefusedError } from '../../packages/kernel/ports.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import { linkMail } from './mail-texts.ts'
import type { Process, Tools } from './process.ts'

const retryMs = 15_000
const underWayMax = 100

/** Mails links. The token is signed now and stored nowhere. */
export const linkMailProcess: Process = {
  timers: { link_mail: beginMail },
}

/** Timers that this process is sending mails for. */
const underWay = new Set<string>()

/** Payouts do not wait for a slow mail server: whatever is not sent by then is begun again. */
async function beginMail(timer: DueTimer<Owner>, tools: Tools): Promise<Date> {
  const { clock, log } = tools.dependencies
  if (!underWay.has(timer.id) && underWay.size < underWayMax) {
    underWay.add(timer.id)
    mailLink(timer, tools)
      .catch((error: unknown) => log.warn({ timer: timer.id, error }, 'the mail is tried again'))
      .finally(() => underWay.delete(timer.id))
  }
  return new Date(clock().getTime() + retryMs)
}

async function mailLink(timer: DueTimer<Owner>, tools: Tools): Promise<void> {
  const [id, purpose] = timer.subject.split('.') as [string, LinkPurpose]
  const { store, tokens, mailer, dashboardUrl, log } = tools.dependencies
  const state = await readState(store, user, id)
  const newest = state.status === 'active' ? state.links[purpose] : undefined
  if (state.status !== 'active' || !newest || newest.isMailed) return
  const claims = { subject: id, id: newest.id, purpose }
  const token = await tokens.sign('link', claims, new Date(newest.expiresAt))
  const mail = linkMail(purpose, { ...state, url: linkUrl(dashboardUrl, purpose, token) })
  try {
    await mailer.send({ to: state.email, ...mail })
  } catch (error) {
    if (!(error instanceof MailRefusedError)) throw error
    log.warn({ user: id, error }, 'the mail server does not take this mail')
  }
  const mailed = { type: 'NoteLinkMailed', data: { purpose, link: newest.id } } as const
  await tools.send(to(user, id, mailed), ownerOf(timer), 'timer')
}

/** Behind the `#` the token is seen by the page alone, not by servers on the way, nor in their logs. */
function linkUrl(base: string, purpose: LinkPurpose, token: string): string {
  return `${base}/${purpose.replaceAll('_', '-')}#token=${token}`
}
