import { createHash } from 'node:crypto'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { passkeysMax } from '../../../packages/domain/users/passkeys.ts'
import type { PasskeyId } from '../../../packages/kernel/credential-ports.ts'

/**
 * How long ids of passkeys are, in bytes, about as often as on devices: password managers, Apple, Windows and
 * browsers, security keys.
 */
const lengths = [16, 16, 16, 20, 20, 20, 32, 32, 32, 48, 64, 64, 65]

/**
 * What a browser is told of an address: as many ids for everybody as anybody can have, so that neither their
 * number nor their length tells whether somebody has the address, or passkeys. The others follow from the
 * address and a key of ours: no device has them, and they stay the same. Without how they are reached, which
 * tells devices apart.
 */
export async function listedPasskeys(
  { blindIndex }: Pick<Dependencies, 'blindIndex'>,
  email: string,
  known: Promise<readonly PasskeyId[]>,
): Promise<readonly PasskeyId[]> {
  const seed = await blindIndex(JSON.stringify(['no passkey', email.trim().toLowerCase()]))
  const nobodys = Array.from({ length: passkeysMax }, (_, index) => idOfNobody(`${seed} ${index}`))
  const real = (await known).map(({ credential }) => credential)
  const listed = [...real, ...nobodys.slice(real.length)]
  return listed.toSorted().map((credential) => ({ credential, transports: [] }))
}

function idOfNobody(seed: string): string {
  const outputLength = 1 + Math.max(...lengths)
  const [choice, ...bytes] = createHash('shake256', { outputLength }).update(seed).digest()
  return Buffer.from(bytes.slice(0, lengths[choice! % lengths.length])).toString('base64url')
}
