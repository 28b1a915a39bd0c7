import { undoLastsMs, type Notice } from '../../../packages/domain/users/notices.ts'
import { user, type ActiveUser } from '../../../packages/domain/users/user.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { nextMailAt } from '../../../packages/kernel/time/mail-pace.ts'
import { ownerOf, type Owner } from '../../../packages/kernel/owner.ts'
import { to } from '../../../packages/kernel/policy.ts'
import type { Mail } from '../../../packages/kernel/ports.ts'
import type { DueTimer } from '../../../packages/kernel/ports/reads.ts'
import { apartBySubject } from '../runner/apart.ts'
import { addressed, linkUrl } from './link-mails.ts'
import { greetings, framed, plain } from './mail-texts.ts'
import { noticeTexts, otherwiseTexts, severalSubjects, undoTexts } from './notice-texts.ts'
import { post } from './post.ts'
import type { Process, Tools } from '../runner/process.ts'

/** Later than that it is no news, such as what happened before there were these mails. */
const newsForMs = 24 * 3_600_000

/** Tells users of each factor that was added or removed, and of each new password. */
export const noticeMailProcess: Process = { timers: { security_notice: apartBySubject(tellNotices) } }

/** One mail tells all that was not told yet. Returns when, where that is not now. */
async function tellNotices(timer: DueTimer<Owner>, tools: Tools): Promise<Date | undefined> {
  const id = timer.subject.split('.', 1)[0]!
  const { executor, clock } = tools.dependencies
  const { state } = await executor.current(user, id)
  if (state.status !== 'active' || state.notices.length === 0) return undefined
  const now = clock()
  const isNews = ({ at }: Notice) => now.getTime() - Date.parse(at) < newsForMs
  const news = state.notices.filter(isNews)
  const mailAt = nextMailAt(state.noticesMailedAt, now)
  if (news.length > 0 && mailAt > now) return mailAt
  if (news.length > 0)
    await post(tools, { to: state.email, ...(await noticeMail(tools.dependencies, { id, state, news })) })
  const { notices } = state
  await tools.send(to(user, id, { type: 'NoteNoticesMailed', data: { notices } }), ownerOf(timer), 'timer')
  return undefined
}

interface Telling {
  readonly id: string
  readonly state: ActiveUser
  /** Oldest first. */
  readonly news: readonly Notice[]
}

/** What was added can be removed with a link, also by whoever no longer has a second factor that works. */
async function noticeMail(
  { tokens, dashboardUrl }: Dependencies,
  { id, state, news }: Telling,
): Promise<Omit<Mail, 'to'>> {
  const { name, language } = addressed(state)
  const { subject, lines } = told(news, language)
  const otherwise = otherwiseTexts[language]
  const added = news.find(({ what }) => /(Enabled|Registered|Connected)$/.test(what))
  if (!added) return plain({ name, language }, [subject, ...lines, otherwise])
  const claims = { subject: id, id, purpose: 'undo_factors', since: added.at }
  const token = await tokens.sign('link', claims, new Date(Date.parse(added.at) + undoLastsMs))
  const url = linkUrl(dashboardUrl, 'undo_factors', token)
  const text = { subject, why: lines.join('\n'), ...undoTexts[language], otherwise }
  return framed(text, { greeting: greetings[language](name), language, url })
}

/** Each kind once, with how often it was. */
function told(news: readonly Notice[], language: ActiveUser['language']) {
  const kinds = [...new Set(news.map(({ what }) => what))]
  const lines = kinds.map((kind) => {
    const count = news.filter(({ what }) => what === kind).length
    return `${noticeTexts[kind][language][1]}${count > 1 ? ` (×${count})` : ''}`
  })
  const [only] = kinds
  const subject = kinds.length === 1 ? noticeTexts[only!][language][0] : severalSubjects[language]
  return { subject, lines }
}
