import { Pool } from 'undici'
import { signatureHeaders, signingKey } from '../../services/webhooks/signature.ts'

/** Signs and posts without storing anything: deliveries without any guarantee. */

export interface Posts {
  readonly port: number
  readonly count: number
  readonly body: string
  readonly secret: string
}

export interface Posted {
  readonly seconds: number
}

const connections = 16

process.on('message', (posts: Posts) => {
  void post(posts).then((seconds) => process.send!({ seconds } satisfies Posted))
})

async function post({ port, count, body, secret }: Posts): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections })
  const key = signingKey(secret)
  const started = performance.now()
  let left = count
  const work = async () => {
    while (left-- > 0) {
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'ikw-payments-webhooks/1',
        ...signatureHeaders([key], { id: `evt_${left}`, at: new Date(), body }),
      }
      const answer = await pool.request({ method: 'POST', path: '/taken', headers, body })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  const seconds = (performance.now() - started) / 1_000
  await pool.close()
  return seconds
}
