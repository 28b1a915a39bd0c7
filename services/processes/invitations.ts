import { invitation } from '../../packages/domain/invitations/invitation.ts'
import { isBacked, merchant } from '../../packages/domain/merchants/merchant.ts'
import { user } from '../../packages/domain/users/user.ts'
import { readState } from '../../packages/kernel/history.ts'
import { ownerOf, type Owner } from '../../packages/kernel/owner.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { Mail } from '../../packages/kernel/ports.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { apart } from './runner/apart.ts'
import { asName, framed, type MailText } from './mails/mail-texts.ts'
import { post } from './mails/post.ts'
import type { Process, Tools } from './runner/process.ts'

/** Mails invitations, and ends those that nobody has accepted. */
export const invitationProcess: Process = {
  timers: { invitation_mail: apart(mailInvitation), invitation_expiry: expireInvitation },
}

async function mailInvitation({ subject: id, ...timer }: DueTimer<Owner>, tools: Tools): Promise<void> {
  const { store, executor, tokens, dashboardUrl } = tools.dependencies
  const invited = await readState(store, invitation, id)
  if (invited.status !== 'pending' || invited.isMailed) return
  const { email, link, expiresAt, by } = invited
  const host = await readState(store, merchant, invited.merchant)
  if (host.status === 'none' || !isBacked(host, invited)) {
    const revoke = { type: 'RevokeInvitation', data: { link } } as const
    await tools.send(to(invitation, id, revoke), ownerOf(timer), 'timer')
    return
  }
  const claims = { subject: id, id: link, purpose: 'invitation' }
  const token = await tokens.sign('link', claims, new Date(expiresAt))
  const { state: inviting } = await executor.current(user, by)
  const names = {
    by: inviting.status === 'active' ? asName(inviting.name) : '',
    merchant: asName(host.name),
  }
  // Behind the `#` the token is seen by the page alone.
  const url = `${dashboardUrl}/invitation#token=${token}`
  await post(tools, { to: email, ...invitationMail(invited, { ...names, url }) })
  await tools.send(
    to(invitation, id, { type: 'NoteInvitationMailed', data: { link } }),
    ownerOf(timer),
    'timer',
  )
}

async function expireInvitation(
  { subject: id, ...timer }: DueTimer<Owner>,
  tools: Tools,
): Promise<undefined> {
  await tools.send(to(invitation, id, { type: 'ExpireInvitation', data: {} }), ownerOf(timer), 'timer')
}

interface Invited {
  readonly name: string | null
  readonly language: 'fr' | 'en'
}

interface Inviting {
  readonly by: string
  readonly merchant: string
  readonly url: string
}

const texts: Readonly<Record<Invited['language'], (inviting: Inviting) => MailText>> = {
  fr: ({ by, merchant: host }) => ({
    subject: `${by} vous invite à rejoindre ${host}`,
    why: `${by} vous invite à travailler pour ${host}.`,
    action: 'Accepter l’invitation',
    lasts: 'Ce lien est valable sept jours et ne sert qu’une fois.',
    otherwise: 'Si vous ne connaissez pas cette personne, ignorez ce message.',
  }),
  en: ({ by, merchant: host }) => ({
    subject: `${by} invites you to join ${host}`,
    why: `${by} invites you to work for ${host}.`,
    action: 'Accept the invitation',
    lasts: 'This link works for seven days, and once.',
    otherwise: 'If you do not know this person, ignore this message.',
  }),
}

const hello = { fr: 'Bonjour', en: 'Hello' } as const

function invitationMail({ name, language }: Invited, inviting: Inviting): Omit<Mail, 'to'> {
  const greeting = `${[hello[language], name && asName(name)].filter(Boolean).join(' ')},`
  return framed(texts[language](inviting), { greeting, language, url: inviting.url })
}
