import { TextRefusedError, type Texter } from '../../packages/kernel/ports/texts.ts'

export interface GatewayOptions {
  /** `https://user:password@sms.example.com/messages`, chosen by the operator of this service. */
  readonly url: string
  /** What a telephone shows as the sender. */
  readonly from: string
  readonly timeoutMs: number
}

/** Answers after which the same message may be taken later. */
const passing = new Set([408, 425, 429])

/** Posts each message as JSON. A repeat has the same `Idempotency-Key`, so that it is sent once. */
export function gatewayTexter({ url, from, timeoutMs }: GatewayOptions): Texter {
  const { address, authorization } = credentialsIn(url)
  return {
    async send({ id, to, text }) {
      const response = await fetch(address, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'Idempotency-Key': id,
          ...(authorization && { Authorization: authorization }),
        },
        body: JSON.stringify({ id, from, to, text }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      await response.body?.cancel()
      if (response.ok) return
      const problem = `the SMS gateway answers ${response.status}`
      const isRefused = response.status >= 400 && response.status < 500 && !passing.has(response.status)
      throw isRefused ? new TextRefusedError(problem) : new Error(problem)
    },
  }
}

function credentialsIn(url: string) {
  const address = new URL(url)
  const [user, password] = [address.username, address.password].map(decodeURIComponent)
  address.username = ''
  address.password = ''
  const pair = Buffer.from(`${user}:${password}`).toString('base64')
  return { address, authorization: user ? `Basic ${pair}` : undefined }
}
