import type { RegisteredWebhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import type { Mail } from '../../packages/kernel/ports.ts'

type Text = Omit<Mail, 'to'>
type Turned<Status> = Extract<RegisteredWebhookEndpoint, { status: Status }>

export function failingMail({ url, livemode, event }: Turned<'failing'>): Text {
  const text = [
    `Your webhook endpoint ${url} (${environment(livemode)}) did not accept event ${event}`,
    'in six attempts over about 35 hours.',
    '',
    'It is marked as failing. Further events are still sent to it, and the first one that it accepts',
    'makes it active again.',
    'What it missed can be sent once more with POST /api/v1/webhook-replays.',
  ]
  return { subject: 'A webhook endpoint is failing', text: text.join('\n') }
}

export function disabledMail({ url, livemode, event }: Turned<'disabled'>): Text {
  const text = [
    `Your webhook endpoint ${url} (${environment(livemode)}) answered event ${event}`,
    'with status 410 (Gone), so it was turned off and gets no more events.',
    '',
    'To turn it on again, send {"enabled": true} to POST /api/v1/webhook-endpoints/{id}.',
    'What it missed can then be sent once more with POST /api/v1/webhook-replays.',
  ]
  return { subject: 'A webhook endpoint was turned off', text: text.join('\n') }
}

function environment(livemode: boolean): string {
  return livemode ? 'live' : 'sandbox'
}
