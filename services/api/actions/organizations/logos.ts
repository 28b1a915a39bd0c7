import { hash as digest } from 'node:crypto'
import { imageSize } from 'image-size'
import { refuseField } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import {
  branding,
  brandingId,
  logoBytesMax,
  logoPath,
  logoSides,
  type Branding,
  type BrandingCommands,
  type LogoRequest,
} from '../../../../packages/domain/branding/branding.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import type { MerchantOwner } from '../../../../packages/kernel/owner.ts'

/** How files of each type begin. What they say of themselves is not asked. */
const types: Readonly<Record<string, RegExp>> = {
  png: /^\x89PNG\r\n\x1a\n/,
  jpeg: /^\xff\xd8\xff/,
  webp: /^RIFF[^]{4}WEBP/,
}

/** The picture is kept before the log names it. */
export async function prepareLogo(
  request: Request<Static<typeof LogoRequest>>,
): Promise<BrandingCommands['ChangeLogo']> {
  const { dependencies, owner, body } = request
  const bytes = Buffer.from(body.contentBase64, 'base64')
  const type = requireLogo(bytes)
  const hash = digest('sha256', bytes)
  const merchant = owner as MerchantOwner
  const { logo } = await readState(dependencies.store, branding, brandingId(merchant))
  const shown = logo ? [logo.hash] : []
  await dependencies.images.keep(merchant, { hash, contentType: `image/${type}`, bytes, shown })
  return { logo: { hash, type } }
}

function requireLogo(bytes: Buffer): string {
  const wrong = (message: string) => refuseField('file_must_be_allowed', '/contentBase64', message)
  if (bytes.length > logoBytesMax)
    return wrong(`the file has ${bytes.length} bytes, at most ${logoBytesMax} are taken`)
  const start = bytes.subarray(0, 16).toString('latin1')
  const [type] = Object.entries(types).find(([, begins]) => begins.test(start)) ?? []
  const size = type && sizeOf(bytes)
  if (!type || !size) return wrong('the file is no picture of type PNG, JPEG or WebP')
  const { least, most } = logoSides
  const isFit = [size.width, size.height].every((side) => side >= least && side <= most)
  if (!isFit)
    return wrong(
      `the picture is ${size.width} × ${size.height}, each side must be ${least} to ${most} pixels`,
    )
  return type
}

function sizeOf(bytes: Buffer) {
  try {
    return imageSize(bytes)
  } catch {
    // It only begins like a picture.
    return undefined
  }
}

/** Where a logo is; null where there is none, or its picture was lost with a database. */
export async function logoUrl(
  { images, baseUrl }: Pick<Dependencies, 'images' | 'baseUrl'>,
  state: Branding,
): Promise<string | null> {
  if (!state.logo || !(await images.find(state.logo.hash))) return null
  return `${baseUrl}${logoPath(state)}`
}

/** Whether any merchant shows this picture now. */
export async function isLogo(
  { images, store }: Pick<Dependencies, 'images' | 'store'>,
  hash: string,
): Promise<boolean> {
  for (const merchant of await images.senders(hash)) {
    const { logo } = await readState(store, branding, brandingId(merchant))
    if (logo?.hash === hash) return true
  }
  return false
}

/** What the merchant sees beside the color. */
export function besideBranding(
  { dependencies }: Pick<Request, 'dependencies'>,
  _: string,
  state: Branding,
): Promise<string | null> {
  return logoUrl(dependencies, state)
}
