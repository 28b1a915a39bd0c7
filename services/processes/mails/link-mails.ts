import type { LinkPurpose } from '../../../packages/domain/users/links.ts'
import { userSessions } from '../../../packages/domain/sessions/user-sessions.ts'
import { user, type ActiveUser } from '../../../packages/domain/users/user.ts'
import { nextMailAt } from '../../../packages/kernel/time/mail-pace.ts'
import { ownerOf, type Owner } from '../../../packages/kernel/owner.ts'
import { to } from '../../../packages/kernel/policy.ts'
import type { DueTimer } from '../../../packages/kernel/ports/reads.ts'
import { apart, apartBySubject } from '../runner/apart.ts'
import { leftAddressMail, linkMail, reuseMail } from './mail-texts.ts'
import { post } from './post.ts'
import type { Process, Tools } from '../runner/process.ts'

/** Mails links. The token is signed now and stored nowhere. */
export const linkMailProcess: Process = {
  timers: {
    link_mail: apart(mailLink),
    email_change_mail: apart(mailChange),
    previous_email: apart(tellPrevious),
    session_reuse: apartBySubject(tellReuses),
  },
}

async function mailLink(timer: DueTimer<Owner>, tools: Tools): Promise<void> {
  const [id, purpose] = timer.subject.split('.') as [string, LinkPurpose]
  const { executor, tokens, dashboardUrl } = tools.dependencies
  const { state } = await executor.current(user, id)
  const newest = state.status === 'active' ? state.links[purpose] : undefined
  if (state.status !== 'active' || !newest || newest.isMailed) return
  const claims = { subject: id, id: newest.id, purpose }
  const token = await tokens.sign('link', claims, new Date(newest.expiresAt))
  const mail = linkMail(purpose, { ...addressed(state), url: linkUrl(dashboardUrl, purpose, token) })
  await post(tools, { to: state.email, ...mail })
  const mailed = { type: 'NoteLinkMailed', data: { purpose, link: newest.id } } as const
  await tools.send(to(user, id, mailed), ownerOf(timer), 'timer')
}

/** To the new address, which is not the user's yet. */
async function mailChange({ subject: id, ...timer }: DueTimer<Owner>, tools: Tools): Promise<void> {
  const { executor, tokens, dashboardUrl } = tools.dependencies
  const { state } = await executor.current(user, id)
  const change = state.status === 'active' ? state.emailChange : null
  if (state.status !== 'active' || change?.status !== 'pending' || change.isMailed) return
  const claims = { subject: id, id: change.link, purpose: 'email_change' }
  const token = await tokens.sign('link', claims, new Date(change.expiresAt))
  const url = linkUrl(dashboardUrl, 'email_change', token)
  const mail = linkMail('email_change', { name: null, language: state.language, url })
  await post(tools, { to: change.email, ...mail })
  const mailed = { type: 'NoteEmailChangeMailed', data: { link: change.link } } as const
  await tools.send(to(user, id, mailed), ownerOf(timer), 'timer')
}

/** Noted once nobody is left to tell: until then the timer goes on. */
async function tellPrevious({ subject: id, ...timer }: DueTimer<Owner>, tools: Tools): Promise<void> {
  for (let told: readonly string[] = []; ;) {
    const { state } = await tools.dependencies.executor.current(user, id)
    if (state.status !== 'active' || state.untold.length === 0) return
    const { untold: addresses, language } = state
    for (const address of addresses.slice(told.length))
      await post(tools, { to: address, ...leftAddressMail({ name: null, language }) })
    told = addresses
    const note = { type: 'NotePreviousEmailTold', data: { addresses } } as const
    await tools.send(to(user, id, note), ownerOf(timer), 'timer')
  }
}

/** One mail tells of all that were not told yet. */
async function tellReuses(timer: DueTimer<Owner>, tools: Tools): Promise<Date | undefined> {
  const id = timer.subject.split('.', 1)[0]!
  const { executor, clock } = tools.dependencies
  const { state } = await executor.current(user, id)
  const { untold, toldAt } = (await executor.current(userSessions, id)).state
  if (state.status !== 'active' || untold.length === 0) return undefined
  const mailAt = nextMailAt(toldAt, clock())
  if (mailAt > clock()) return mailAt
  await post(tools, { to: state.email, ...reuseMail(addressed(state)) })
  const told = { type: 'NoteReusesTold', data: { sessions: untold } } as const
  await tools.send(to(userSessions, id, told), ownerOf(timer), 'timer')
  return undefined
}

/** Only who has shown to have the mailbox is called by name: it could say anything to anybody. */
export function addressed({ name, language, emailVerified, isNameDoubtful }: ActiveUser) {
  return { name: emailVerified && !isNameDoubtful ? name : null, language }
}

/** Behind the `#` the token is seen by the page alone, not by servers on the way, nor in their logs. */
export function linkUrl(
  base: string,
  purpose: LinkPurpose | 'email_change' | 'undo_factors',
  token: string,
): string {
  return `${base}/${purpose.replaceAll('_', '-')}#token=${token}`
}
