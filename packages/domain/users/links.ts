const hourMs = 3_600_000

/** Domain model, section 4: how long a mailed link can be used. */
export const linkLastsMs = {
  verify_email: 24 * hourMs,
  reset_password: hourMs,
  magic_link: hourMs / 4,
} as const

export type LinkPurpose = keyof typeof linkLastsMs
export const linkPurposes = [
  'verify_email',
  'reset_password',
  'magic_link',
] as const satisfies readonly LinkPurpose[]

export interface Link {
  readonly id: string
  /** RFC 3339. */
  readonly expiresAt: string
  readonly isMailed: boolean
}
