import t from 'tap'
import { routes } from '../../services/families.ts'
import { lawOver } from '../support/law.ts'

// A row says what it does by its kind; `perform` is for what no kind can say. A section that has such rows
// says here what that is.

/** What rows of a section do that is more than one command to one stream of the owner, or one look at it. */
const performs: Readonly<Record<string, string>> = {
  'Payment intents':
    'locks the intent, asks the operator between two commands, and claims the link of a session',
  Checkout: 'anybody acts for the merchant: a session, its link, an intent and the operator answer together',
  'Payments and refunds': 'reserves in the intent, holds in the book, and only then asks for the refund',
  Invoices: 'makes or finds the intent that pays, and confirms it at the operator',
  'Pages of invoices': 'a token of the path names the invoice; its payment is another stream',
  'Customer portal': 'the customer of a token pays: an intent, an invoice and a wallet answer together',
  'Pages of portals': 'a token of the path names the customer, of whom many streams are shown or changed',
  Wallets: 'takes from the wallet and pays the invoice, which are two streams',
  Balance: 'adds up the books of every currency, now or as they were known',
  Fees: 'asks the tariff, which is in no stream',
  Events: 'reads the public feed, which is beside the log',
  Audit: 'proves from the Merkle tree; no stream holds it',
  Operations: 'reads the answers kept for idempotency keys, which are beside the log',
  'Signing in': 'proves a password that is counted elsewhere, and answers a session of another stream',
  'Addresses of users': 'claims the address, changes the user, and frees the address before',
  'Telephones of users': 'proves a code in a stream of its own, claims the number, and changes the user',
  'Second factors': 'proves a password or a code, whose tries are counted in streams of their own',
  Passkeys: 'a ceremony of two requests: a challenge, a claim and the user',
  Google: 'asks Google, claims the account, and answers a session',
  Organizations: 'makes an organization with its merchant, or moves the session from one to another',
  Team: 'an invitation, the merchant and the user change in turn; members are in no read model of their own',
  'API keys': 'the environment is the body’s, and the id follows from the secret',
  Sandbox: 'plays the operator, whose word goes to the stream that it finds by a reference',
}

const tagsOf = (kind: string) =>
  new Set(routes.filter((row) => row.kind === kind).map(({ section }) => section!.tag))

t.test('a section that has rows of the kind `perform` says why', async (t) => {
  const tags = tagsOf('perform')
  await lawOver(t, tags, (tag) =>
    t.ok(tag in performs, `test/laws/performed.test.ts says what of ${tag} no other kind of row can do`),
  )
  await lawOver(t, Object.keys(performs), (tag) =>
    t.ok(tags.has(tag), `${tag} has rows of the kind \`perform\``),
  )
})
