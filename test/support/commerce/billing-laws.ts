import t from 'tap'
import { brokenLaws, laws, postings } from '../load/checker.ts'
import { eventually } from '../eventually.ts'
import type { TestService } from '../service.ts'

/** What the books have taken, by the payment or application that it was for. */
const taken = `
  select entry.data->>'template' as template, entry.data->'subject'->>'id' as id,
    sum((posting->>'amount')::bigint) as amount
  from events entry cross join json_array_elements(entry.data->'postings') posting
  where entry.stream like 'ledger-%' and entry.type = 'EntryPosted' and posting->>'side' = 'debit'
  group by 1, 2`

/** What each invoice says that it was paid with, except outside of this service. */
const paid = `
  select stream, data->'by'->>'id' as id, (data->>'amount')::bigint as amount from events
  where type in ('InvoicePaid', 'InvoicePartlyPaid') and data->'by'->>'type' <> 'outside'`

/** No money is made or lost between payments, invoices, wallets and the books, which are asked first. */
const billingLaws: Readonly<Record<string, string>> = {
  'what a book holds is what it owes and has earned': `
    select book from (${postings}) p group by book
    having sum(effect) filter (where account ~ '^(provider:|sandbox\\.funding)')
      is distinct from sum(effect) filter (where account !~ '^(provider:|sandbox\\.funding)')`,

  'what a wallet or payment has paid of an invoice is in the book, once': `
    select paid.stream, paid.id, paid.amount, taken.amount as taken
    from (${paid}) paid left join (${taken}) taken
      on taken.id = paid.id and taken.template in ('wallet.apply', 'payment.succeeded', 'payment.succeeded_deferred')
    where paid.amount is distinct from taken.amount`,

  'nothing pays two invoices, or one twice': `
    select id from (${paid}) paid group by id having count(*) > 1`,

  'what a book has taken for an invoice has paid it': `
    select taken.id, taken.template from (${taken}) taken
    left join events succeeded on succeeded.stream = 'payment_intent-' || taken.id
      and succeeded.type = 'PaymentIntentSucceeded'
    where (taken.template = 'wallet.apply' or succeeded.data->'purpose'->>'type' = 'invoice')
      and taken.template <> 'payment.late' and not exists (select from (${paid}) paid where paid.id = taken.id)`,

  'an invoice is never paid with more than is due': `
    select stream from (
      select stream, (data->>'amount')::bigint as amount from events
      where type in ('InvoicePaid', 'InvoicePartlyPaid')
      union all
      select stream, -(data->>'amount')::bigint from events where type = 'InvoicePaymentReturned'
      union all
      select stream, -(line->>'amount')::bigint
      from events cross join json_array_elements(data->'lines') line where type = 'InvoiceIssued'
    ) moved group by stream having sum(amount) > 0`,

  'that an invoice is paid is told once, until it is to be paid again': `
    select stream from (
      select stream, type, lag(type) over (partition by stream order by revision) as before from events
      where type = 'InvoicePaid'
        or type = 'InvoicePaymentReturned' and (data->>'reopens')::boolean
    ) told where type = 'InvoicePaid' and before = 'InvoicePaid'`,

  'a top-up has succeeded exactly when the book has put it into the wallet, once': `
    select topup.stream, topup.amount, taken.amount as taken from (
      select requested.stream, requested.data->>'paymentIntent' as id,
        (requested.data->>'amount')::bigint as amount, completed.stream is not null as is_completed
      from events requested left join events completed
        on completed.stream = requested.stream and completed.type = 'WalletTopupCompleted'
      where requested.type = 'WalletTopupRequested'
    ) topup full join (select * from (${taken}) taken where template = 'wallet.topup') taken using (id)
    where case when topup.is_completed then topup.amount else null end is distinct from taken.amount`,
}

const ledgerLaws = [
  'debits and credits of each entry are equal',
  'no balance of a merchant is ever below zero',
  'what is reserved and in clearing is what the open holds hold',
] as const

const moneyLaws = { ...Object.fromEntries(ledgerLaws.map((law) => [law, laws[law]!])), ...billingLaws }

type Pool = Parameters<typeof brokenLaws>[0]

/** As soon as the policies have done their part. */
export async function brokenMoneyLaws(pool: Pool): Promise<Readonly<Record<string, unknown>>> {
  const broken = () => brokenLaws(pool, moneyLaws)
  return eventually(broken, (found) => Object.keys(found).length === 0).catch(broken)
}

/** For the end of a test file: whatever was done in it, money was conserved over all merchants. */
export function testConservation(serviceOf: () => TestService): void {
  t.test('whatever was paid, put in and taken back here, the books say the same', async (t) => {
    const { pool } = serviceOf().service.runtime.postgres
    t.strictSame(await brokenMoneyLaws(pool), {})
    const { rows } = await pool.query(`select from events where type = 'EntryPosted' limit 1`)
    t.not(rows.length, 0)
  })
}
