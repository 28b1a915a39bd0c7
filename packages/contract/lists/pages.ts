import type { Dependencies } from '../dependencies.ts'
import type { Refusal } from '../refusals.ts'
import type { Static, TSchema } from '../vocabulary.ts'

/** A browser's request. */
export interface Visit {
  readonly dependencies: Dependencies
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  /** What the form of a page has sent. */
  readonly form: Readonly<Record<string, unknown>>
  /** The best of these languages for the reader. */
  readonly language: (offered: readonly string[]) => string | undefined
}

/** A page, or where the browser goes on. */
export type Shown = string | { readonly location: string }

export interface Refused {
  /** The page about a refusal. Left out: browsers get JSON then, too. */
  readonly refusedPage?: (refusal: Refusal, visit: Visit) => Shown | Promise<Shown>
}

/** What browsers get instead of JSON. */
export interface Paged<Returns extends TSchema> extends Refused {
  readonly page?: (body: Static<Returns>, visit: Visit) => Shown | Promise<Shown>
}

/** Where a browser is sent, and what it keeps for the next time it comes to this path. */
export interface Redirection {
  readonly location: string
  readonly cookie?: { readonly name: string; readonly value: string; readonly seconds: number }
}
