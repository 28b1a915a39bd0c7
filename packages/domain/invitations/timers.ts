import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { InvitationEvents } from './invitation.ts'

const over = ({ id }: { readonly id: string }) => [stop('invitation_mail', id), stop('invitation_expiry', id)]

/** It is mailed like a link of a user: a timer that is due at once. */
export const invitationTimers = timerHandlers<InvitationEvents>({
  InvitationSent: (event) => [
    start('invitation_mail', event.id, event, event.metadata.at),
    start('invitation_expiry', event.id, event, event.data.expiresAt),
  ],
  InvitationMailed: ({ id }) => [stop('invitation_mail', id)],
  InvitationAccepted: over,
  InvitationRevoked: over,
  InvitationExpired: over,
})
