import { policy, to, type PolicyCommand } from '../../kernel/policy.ts'
import type { Owner, UserOwner } from '../../kernel/owner.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { claim } from '../claims/claim.ts'
import { bookId } from '../ledger/accounts.ts'
import { book } from '../ledger/book.ts'
import { merchant as merchants } from '../merchants/merchant.ts'
import { organization } from '../organizations/organization.ts'
import type { UserEvents } from './events.ts'
import type { Held } from './held.ts'

type Registered = UserEvents['UserRegistered']
type Founder = Pick<Registered, 'email'> & { readonly merchant: string }
type Founded = NonNullable<Registered['founded']>

/** Domain model, section 4: play money in minor units, granted to a new merchant in the sandbox. */
export const sandboxGrantMinor = 1_000_000

interface Step {
  readonly owner: Owner
  readonly order: PolicyCommand
}

type Founding = readonly [Step, Step, Step]

/** What a new user starts with, in the order in which it comes to be. */
export function foundingOf(user: string, { email, merchant: id }: Founder, founded: Founded): Founding {
  const { organization: unit, name, country, currency } = founded
  const owner = { merchant: id, livemode: false }
  const created = { name, country, currency, email, organization: unit, owner: user }
  const organized = { displayName: name, country, type: 'company' as const, parent: null, merchant: id }
  const granted = {
    template: 'sandbox.topup' as const,
    subject: { type: 'merchant', id },
    amount: sandboxGrantMinor,
  }
  return [
    { owner, order: to(merchants, id, { type: 'CreateMerchant', data: created }) },
    {
      owner: { organization: unit },
      order: to(organization, unit, { type: 'CreateOrganization', data: organized }),
    },
    { owner, order: to(book, bookId(id, false, currency), { type: 'PostEntry', data: granted }) },
  ]
}

/** A policy acts for one owner, so each step is one of its own. */
const found = (step: 0 | 1 | 2, name: string) =>
  policy<UserEvents, UserOwner>(
    name,
    {
      UserRegistered: (event) =>
        stepsOf(event)
          .slice(step, step + 1)
          .map(({ order }) => order),
    },
    (event) => stepsOf(event as RecordedEvent<Registered, UserOwner>)[step]?.owner ?? { user: event.id },
  )

function stepsOf({ id, data }: RecordedEvent<Registered, UserOwner>): readonly Step[] {
  const { merchant, founded, email } = data
  return founded && merchant ? foundingOf(id, { email, merchant }, founded) : []
}

function freeing({ claim: id, hold }: Held): PolicyCommand {
  return to(claim, id, { type: 'FreeClaim', data: { hold } })
}

export const userPolicies = [
  found(0, 'create the merchant of a new user'),
  found(1, 'create the organization of a new user'),
  found(2, 'grant play money to the merchant of a new user'),

  policy<UserEvents, UserOwner>(
    'free the address that a user has left',
    {
      UserEmailChanged: ({ data: { freed } }) => freed.map(freeing),
      UserPasskeyRemoved: ({ data: { freed } }) => freed.map(freeing),
      UserGoogleDisconnected: ({ data: { freed } }) => freed.map(freeing),
      UserPhoneChanged: ({ data: { freed } }) => freed.map(freeing),
    },
    () => ({ platform: true }),
  ),
]
