import { isSame, undoLastsMs, type Notice, type Noticed } from '../../packages/domain/users/notices.ts'
import { user, type ActiveUser } from '../../packages/domain/users/user.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { ownerOf, type Owner } from '../../packages/kernel/owner.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { Mail } from '../../packages/kernel/ports.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import { apart } from './apart.ts'
import { addressed, linkUrl } from './link-mails.ts'
import { greetings, letter, plain } from './mail-texts.ts'
import { noticeTexts, otherwiseTexts, undoTexts } from './notice-texts.ts'
import { post } from './post.ts'
import type { Process, Tools } from './process.ts'

/** Later than that it is no news, such as what happened before there were these mails. */
const newsForMs = 24 * 3_600_000

/** Tells users of each factor that was added or removed, and of each new password. */
export const noticeMailProcess: Process = { timers: { security_notice: apart(tellNotice) } }

type Named = readonly [whole: string, user: string, what: Noticed, at: string]

async function tellNotice(timer: DueTimer<Owner>, tools: Tools): Promise<void> {
  const [, id, what, at] = /^([^.]+)\.([^.]+)\.(.+)$/.exec(timer.subject) as unknown as Named
  const { executor, clock } = tools.dependencies
  const { state } = await executor.current(user, id)
  const notice =
    state.status === 'active' ? state.notices.find((one) => isSame(one, { what, at })) : undefined
  if (state.status !== 'active' || !notice) return
  if (clock().getTime() - Date.parse(notice.at) < newsForMs)
    await post(tools, { to: state.email, ...(await noticeMail(tools.dependencies, { id, state, notice })) })
  await tools.send(to(user, id, { type: 'NoteNoticeMailed', data: { what, at } }), ownerOf(timer), 'timer')
}

interface Telling {
  readonly id: string
  readonly state: ActiveUser
  readonly notice: Notice
}

/** What was added can be removed with a link, also by whoever no longer has a second factor that works. */
async function noticeMail(
  { tokens, dashboardUrl }: Dependencies,
  { id, state, notice: { what, at } }: Telling,
): Promise<Omit<Mail, 'to'>> {
  const { name, language } = addressed(state)
  const [subject, why] = noticeTexts[what][language]
  const otherwise = otherwiseTexts[language]
  const isAddition = /(Enabled|Registered|Connected)$/.test(what)
  if (!isAddition) return plain({ name, language }, [subject, why, otherwise])
  const claims = { subject: id, id, purpose: 'undo_factors', since: at }
  const token = await tokens.sign('link', claims, new Date(Date.parse(at) + undoLastsMs))
  const url = linkUrl(dashboardUrl, 'undo_factors', token)
  const text = { subject, why, ...undoTexts[language], otherwise }
  return letter(text, { greeting: greetings[language](name), language, url })
}
