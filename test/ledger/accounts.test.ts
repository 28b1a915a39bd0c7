import t from 'tap'
import {
  bookId,
  classOf,
  parseBookId,
  provider,
  type AccountCode,
} from '../../packages/domain/ledger/accounts.ts'
import { context, wave } from '../support/ledger/ledger-commands.ts'

t.test('the id of a book names merchant, environment and currency', async (t) => {
  const { merchant } = context
  t.equal(bookId(merchant, true, 'XOF'), `${merchant}.live.XOF`)
  t.strictSame(parseBookId(`${merchant}.test.CDF`), { merchant, livemode: false, currency: 'CDF' })
  for (const wrong of [merchant, `${merchant}.prod.XOF`, `${merchant}.live.xof`, `.live.XOF`]) {
    t.throws(() => parseBookId(wrong), /not the id of a ledger book/)
  }
})

t.test('an account code tells its class', async (t) => {
  t.equal(classOf(provider(wave)), 'asset')
  t.equal(classOf('wallet:0190a1b2'), 'liability')
  t.equal(classOf('revenue.payout_fees'), 'revenue')
  t.throws(() => provider(''), /not an account code/)
  t.throws(() => provider('x'.repeat(100)), /not an account code/)
  // What arrives as JSON may be no account at all.
  for (const wrong of ['merchant.available:x', 'provider', 'merchant.owned']) {
    t.throws(() => classOf(wrong as AccountCode), /not an account code/)
  }
})
