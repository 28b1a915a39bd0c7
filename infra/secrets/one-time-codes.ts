import { generateSecret, generateURI, verify } from 'otplib'
import type { OneTimeCodes } from '../../packages/kernel/ports/credentials.ts'
import type { BlindIndex } from '../../packages/kernel/blind-index.ts'
import type { Clock } from '../../packages/kernel/ports.ts'

/** As authenticators show it beside the account. */
const issuer = 'IKW Payments'
/** A phone's clock may be wrong by one step of thirty seconds. */
const driftSeconds = 30
const digits = 6
const sixDigits = /^\d{6}$/

export function oneTimeCodes({ blindIndex, clock }: { blindIndex: BlindIndex; clock: Clock }): OneTimeCodes {
  return {
    async of(id) {
      const hmac = await blindIndex(JSON.stringify(['code', id]))
      return String(BigInt(`0x${hmac.replaceAll('-', '')}`) % 10n ** BigInt(digits)).padStart(digits, '0')
    },
    async stepOf(secret, code) {
      if (!sixDigits.test(code)) return undefined
      const epoch = Math.floor(clock().getTime() / 1_000)
      const found = await verify({ secret, token: code, epoch, epochTolerance: driftSeconds })
      return found.valid && 'timeStep' in found ? found.timeStep : undefined
    },
    newSecret: () => generateSecret(),
    urlOf: (label, secret) => generateURI({ issuer, label, secret }),
  }
}
