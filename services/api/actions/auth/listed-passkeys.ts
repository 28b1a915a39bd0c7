import { createHash } from 'node:crypto'
import type { Dependencies } from '../../../../packages/contract/routes.ts'
import { passkeysMax } from '../../../../packages/domain/users/passkeys.ts'
import type { PasskeyId } from '../../../../packages/kernel/ports/credentials.ts'

/**
 * How long ids of passkeys are, in bytes, about as often as on devices: password managers, Apple, Windows and
 * browsers, security keys.
 */
const lengths = [16, 16, 16, 20, 20, 20, 32, 32, 32, 48, 64, 64, 65]

/** At the end of an id of nobody, which only who has our key tells from chance. */
const markBytes = 8

type Keyed = Pick<Dependencies, 'blindIndex'>

/**
 * As many ids for everybody as anybody can have, so that neither their number nor their length tells whether
 * somebody has the address. The others follow from the address and a key of ours: no device has them, and
 * they stay the same. How a key is reached is left out: it tells devices apart.
 */
export async function listedPasskeys(
  { blindIndex }: Keyed,
  email: string,
  known: Promise<readonly PasskeyId[]>,
): Promise<readonly PasskeyId[]> {
  const seed = await blindIndex(JSON.stringify(['no passkey', email.trim().toLowerCase()]))
  const indexes = Array.from({ length: passkeysMax }, (_, index) => index)
  const nobodys = await Promise.all(indexes.map((index) => idOfNobody({ blindIndex }, `${seed} ${index}`)))
  const real = (await known).map(({ credential }) => credential)
  const listed = [...real, ...nobodys.slice(real.length)]
  return listed.toSorted().map((credential) => ({ credential, transports: [] }))
}

/** Whether it was listed in place of a passkey: to who registers it, it is taken like a real one. */
export async function isOfNobody({ blindIndex }: Keyed, credential: string): Promise<boolean> {
  const id = Buffer.from(credential, 'base64url')
  return (await marked({ blindIndex }, id)).equals(id)
}

async function idOfNobody({ blindIndex }: Keyed, seed: string): Promise<string> {
  const [choice, ...bytes] = digestOf(seed, 1 + Math.max(...lengths))
  const id = Buffer.from(bytes.slice(0, lengths[choice! % lengths.length]))
  return (await marked({ blindIndex }, id)).toString('base64url')
}

/** The same id with the mark that follows from what is before it. */
async function marked({ blindIndex }: Keyed, id: Buffer): Promise<Buffer> {
  const head = id.subarray(0, -markBytes)
  const mark = digestOf(
    await blindIndex(JSON.stringify(['no passkey', 'mark', head.toString('hex')])),
    markBytes,
  )
  return Buffer.concat([head, mark])
}

function digestOf(text: string, outputLength: number): Buffer {
  return createHash('shake256', { outputLength }).update(text).digest()
}
