/** Name, SQL and meaning. A published column keeps its name and meaning; new ones are added at the end. */
type Column = readonly [name: string, expression: string, meaning: string]

export interface FinanceView {
  readonly name: string
  readonly comment: string
  readonly columns: readonly Column[]
  readonly from: string
}

const environment = `case when livemode then 'live' else 'sandbox' end`

/** The order of the columns by which every view can be filtered. */
const owner: readonly Column[] = [
  ['merchant', 'merchant', 'Id of the merchant (UUID)'],
  ['environment', environment, 'live or sandbox; sandbox holds play money'],
  ['currency', 'currency', 'ISO 4217; a book holds one currency, and there is no exchange'],
]

const entryColumns: readonly Column[] = [
  ['entry_id', 'entry', 'Id of the journal entry (UUID); unique in its book'],
  ['log_position', 'position', 'Position of the event in the log: the order of the journal'],
  ...owner,
  ['book', 'book', 'Ledger book: merchant, environment and currency'],
  ['step', 'step', 'EntryPosted, or what became of a hold: HoldPlaced, HoldAdvanced, HoldPosted, HoldVoided'],
  ['template', 'template', 'What the entry is: payment.succeeded, payout.hold, refund.settle, …'],
  ['subject_type', 'subject_type', 'What the money is for: payment, payout, refund, operation, merchant'],
  ['subject_id', 'subject', 'Its id (UUID)'],
  ['hold_id', 'hold', 'Hold that the entry belongs to; null for final entries'],
  ['description', 'description', 'Text of the entry; mostly null'],
  ['reverses_entry_id', 'reverses', 'Entry that this one corrects; null for all others'],
  ['actor', 'actor', 'Who caused it: key:<id>, policy:<name>, timer, rail'],
  ['effective_at', 'effective_at', 'When the entry counts'],
  ['occurred_at', 'occurred_at', 'When it was written'],
]

/** Added later, so it stands behind the columns of each view. */
const belongsTo: Column = [
  'belongs_to',
  'belongs_to',
  'When it would have counted if that month had not been closed; null for all others',
]

const oneRowPerEntry = `from read.journal
  group by ${entryColumns.map((_, index) => index + 1).join(', ')}, belongs_to`

const journal: FinanceView = {
  name: 'journal',
  comment: 'One row per journal entry.',
  columns: [
    ...entryColumns,
    ['amount', `sum(amount) filter (where side = 'debit')`, 'Sum of its debits, or credits, in minor units'],
    ['postings', 'count(*)', 'How many postings it has'],
    belongsTo,
  ],
  from: oneRowPerEntry,
}

const debit = `case when side = 'debit' then amount else 0 end`
const credit = `case when side = 'credit' then amount else 0 end`
/** Debits raise assets, credits raise everything else. */
const effect = `case when (side = 'debit') = (class = 'asset') then amount else -amount end`

export const postings: FinanceView = {
  name: 'postings',
  comment: 'One row per posting: the lines of the journal. Debits and credits of an entry are equal.',
  columns: [
    ...entryColumns,
    ['line', 'line', '1 is the first posting of its entry'],
    ['account', 'account', 'merchant.available, provider:mobile_money.SN.wave, revenue.payout_fees, …'],
    ['account_class', 'class', 'asset, liability or revenue'],
    ['debit', debit, 'Minor units; 0 for a credit'],
    ['credit', credit, 'Minor units; 0 for a debit'],
    ['balance_effect', effect, 'What it adds to the balance of its account, in minor units with its sign'],
    belongsTo,
  ],
  from: 'from read.journal',
}

const running = 'sum(movement) over (partition by book, account order by day)'

const balancesDaily: FinanceView = {
  name: 'balances_daily',
  comment:
    'One row per book, account and UTC day with movements: what moved, and the balance at the end of ' +
    'the day. A day without a row ends as the one before.',
  columns: [
    ['day', 'day', 'UTC day of effective_at'],
    ...owner,
    ['book', 'book', 'Ledger book: merchant, environment and currency'],
    ['account', 'account', 'Account code'],
    ['account_class', 'class', 'asset, liability or revenue'],
    ['debits', 'debits', 'Sum of debits of the day in minor units'],
    ['credits', 'credits', 'Sum of credits of the day in minor units'],
    ['movement', 'movement', 'What the day added to the balance'],
    ['closing_balance', running, 'Balance at the end of the day'],
  ],
  from: `from (
    select (effective_at at time zone 'UTC')::date as day, merchant, livemode, currency, book, account,
      class, sum(${debit}) as debits, sum(${credit}) as credits, sum(${effect}) as movement
    from read.journal group by 1, 2, 3, 4, 5, 6, 7
  ) days`,
}

const trialBalance: FinanceView = {
  name: 'trial_balance',
  comment: 'One row per book and account, as of now. Debit and credit balances of a book are equal.',
  columns: [
    ...owner,
    ['book', 'book', 'Ledger book: merchant, environment and currency'],
    ['account', 'account', 'Account code'],
    ['account_class', 'class', 'asset, liability or revenue'],
    ['debits', 'debits', 'Sum of all debits in minor units'],
    ['credits', 'credits', 'Sum of all credits in minor units'],
    ['debit_balance', 'greatest(debits - credits, 0)', 'Where debits are more: by how much'],
    ['credit_balance', 'greatest(credits - debits, 0)', 'Where credits are more: by how much'],
  ],
  from: `from (
    select merchant, livemode, currency, book, account, class, sum(${debit}) as debits, sum(${credit}) as credits
    from read.journal group by 1, 2, 3, 4, 5, 6
  ) accounts`,
}

const providerDay = `(effective_at at time zone 'UTC')::date`

const settlements: FinanceView = {
  name: 'settlements',
  comment:
    'One row per operator, currency and UTC day with movements, over all merchants: what the operator owes ' +
    'us of the day, or we owe it.',
  columns: [
    ['day', 'day', 'UTC day of effective_at'],
    ['environment', environment, 'live or sandbox; sandbox holds play money'],
    ['currency', 'currency', 'ISO 4217'],
    ['rail', 'rail', 'Operator: mobile_money.SN.wave, card, bank.XOF'],
    ['collected', 'collected', 'What came in on its account with us, in minor units'],
    ['paid_out', 'paid_out', 'What went out, in minor units'],
    ['net', 'collected - paid_out', 'What the operator has to settle; negative where we have to'],
    ['movements', 'movements', 'How many postings'],
  ],
  from: `from (
    select ${providerDay} as day, livemode, currency, substr(account, 10) as rail,
      sum(${debit}) as collected, sum(${credit}) as paid_out, count(*) as movements
    from read.journal where account like 'provider:%' group by 1, 2, 3, 4
  ) days`,
}

const fees: FinanceView = {
  name: 'fees',
  comment: 'One row per posting to a revenue account: what the platform earned, or gave back.',
  columns: [
    ['entry_id', 'entry', 'Journal entry (UUID)'],
    ['log_position', 'position', 'Position of the event in the log'],
    ...owner,
    ['account', 'account', 'revenue.payment_fees, revenue.payout_fees, …'],
    ['template', 'template', 'Entry that took the fee, or gave it back'],
    ['subject_type', 'subject_type', 'payment, payout, …'],
    ['subject_id', 'subject', 'Its id (UUID)'],
    ['amount', effect, 'Minor units; negative for a fee that was given back'],
    ['effective_at', 'effective_at', 'When it counts'],
  ],
  from: `from read.journal where class = 'revenue'`,
}

/** Public ids are a prefix and the UUID without hyphens. */
function publicId(prefix: string): string {
  return `'${prefix}_' || replace(id, '-', '')`
}

const payouts: FinanceView = {
  name: 'payouts',
  comment: 'One row per payout, without what identifies its beneficiary.',
  columns: [
    ['payout_id', publicId('po'), 'Public id'],
    ['subject_id', 'id', 'The same as UUID: subject_id of its entries'],
    ...owner,
    ['status', 'status', 'pending, in_transit, paid, failed or canceled'],
    ['amount', 'amount', 'What the beneficiary gets, in minor units'],
    ['fee', `(state #>> '{money,fee}')::bigint`, 'Charged on top, in minor units'],
    ['rail', `state #>> '{money,rail}'`, 'Way of the money: mobile_money.SN.wave, bank.XOF'],
    ['destination_type', `state #>> '{destination,type}'`, 'mobile_money or bank'],
    ['destination_country', `state #>> '{destination,country}'`, 'ISO 3166; null for banks'],
    ['batch_id', `state ->> 'batch'`, 'Batch it belongs to; mostly null'],
    ['created_at', 'created_at', 'When it was requested'],
    ['paid_at', `(state ->> 'paidAt')::timestamptz`, 'When the beneficiary had it, even if it came back'],
    ['failure_code', `state #>> '{failure,code}'`, 'Why it failed; returned when it came back'],
    ['operator_reference', 'id', 'By which the operator knows it (UUID)'],
  ],
  from: 'from read.payouts where shown',
}

const paidAmount = `(state #>> '{payment,amount}')::bigint`
const paidFee = `(state #>> '{payment,fee}')::bigint`
// Cast, because a read model older than migration 014 still has `jsonb`.
const refunded = `(select coalesce(sum((share ->> 'amount')::bigint), 0)
    from json_each((state #> '{payment,refunds}')::json) as refund (id, share) where (share ->> 'done')::boolean)`

const payments: FinanceView = {
  name: 'payments',
  comment: 'One row per payment intent that has succeeded, without what identifies its payer.',
  columns: [
    ['payment_id', publicId('pay'), 'Public id'],
    ['payment_intent_id', publicId('pi'), 'Public id of its intent'],
    ['subject_id', 'id', 'The same as UUID: subject_id of its entries'],
    ['merchant', 'merchant', 'Id of the merchant (UUID)'],
    ['environment', environment, 'live or sandbox; sandbox holds play money'],
    ['currency', `state ->> 'currency'`, 'ISO 4217'],
    ['status', 'status', 'succeeded, partially_refunded or refunded'],
    ['amount', paidAmount, 'What the payer paid, in minor units'],
    ['fee', paidFee, 'Taken out of it, in minor units; a refund does not give it back'],
    ['net', `${paidAmount} - ${paidFee}`, 'What the merchant got, in minor units'],
    ['refunded', refunded, 'What has been refunded of it, in minor units'],
    ['rail', `state #>> '{payment,rail}'`, 'Way of the money: mobile_money.SN.wave, card'],
    ['country', `state ->> 'transactionCountry'`, 'ISO 3166'],
    ['created_at', 'created_at', 'When the intent was created'],
    ['succeeded_at', 'succeeded_at', 'When it was paid'],
    ['available_on', `(state #>> '{payment,availableOn}')::timestamptz`, 'When the merchant may pay it out'],
    ['operator_reference', `state #>> '{payment,operationId}'`, 'By which the operator knows it (UUID)'],
  ],
  from: 'from read.payments where shown',
}

const refunds: FinanceView = {
  name: 'refunds',
  comment: 'One row per refund, without what identifies whom it goes to.',
  columns: [
    ['refund_id', publicId('re'), 'Public id'],
    ['subject_id', 'id', 'The same as UUID: subject_id of its entries'],
    ['merchant', 'merchant', 'Id of the merchant (UUID)'],
    ['environment', environment, 'live or sandbox; sandbox holds play money'],
    ['currency', `state ->> 'currency'`, 'ISO 4217'],
    ['status', 'status', 'pending, succeeded or failed'],
    ['amount', `(state ->> 'amount')::bigint`, 'What goes back, in minor units'],
    ['rail', `state ->> 'rail'`, 'Way of the money: mobile_money.SN.wave, card'],
    ['payment_intent', 'payment_intent', 'Intent of the payment (UUID): subject_id of finance.payments'],
    ['reason', `state ->> 'reason'`, 'duplicate, fraudulent, requested_by_customer; mostly null'],
    ['created_at', 'created_at', 'When it was requested'],
    ['failure_code', `state #>> '{failure,code}'`, 'Why it failed'],
    ['operator_reference', 'id', 'By which the operator knows it (UUID)'],
  ],
  from: 'from read.refunds where shown',
}

const reconciliation: FinanceView = {
  name: 'reconciliation',
  comment: "One row per line of an operator's statement, and per entry of ours that it lacks.",
  columns: [
    ['statement_id', 'statement', 'Id of the statement (UUID)'],
    ['item', 'item', 'Order of the findings of a statement'],
    ['rail', 'rail', 'Operator: mobile_money.SN.wave, card, bank.XOF'],
    ['environment', 'environment', 'live or sandbox; sandbox holds play money'],
    ['currency', 'currency', 'ISO 4217'],
    [
      'finding',
      'kind',
      'matched, differs_in_amount, differs_in_fee, differs_in_day, double, only_there, only_here, settled_before',
    ],
    ['line', 'line', 'Line of the file behind its header; null for what only we have'],
    ['operator_reference', 'reference', 'By which the operator knows it (UUID); empty where it gave none'],
    [
      'line_amount',
      'line_amount',
      'What the operator says, in minor units; negative for money that went out',
    ],
    ['line_fee', 'line_fee', 'What the operator took for it, in minor units'],
    ['line_at', 'line_at', 'When, as the operator says'],
    ['entry_id', 'entry', 'Our journal entry (UUID); null for what only the operator has'],
    ['book', 'book', 'Its book'],
    ['entry_amount', 'entry_amount', 'What it moved on the account of the operator, in minor units'],
    ['entry_at', 'entry_at', 'When it counts'],
    [
      'drift',
      `coalesce(line_amount - line_fee, 0) - case when is_within then entry_amount else 0 end`,
      'What it explains of what the operator says less what the books say, in minor units',
    ],
    ['imported_at', 'imported_at', 'When the statement was imported'],
    ['digest', 'digest', 'SHA-256 of the file'],
  ],
  from: 'from read.reconciliation join read.statements on statements.id = reconciliation.statement',
}

/** In the order of docs/finance.md. */
export const financeViewTable: readonly FinanceView[] = [
  journal,
  postings,
  balancesDaily,
  trialBalance,
  payouts,
  payments,
  refunds,
  fees,
  settlements,
  reconciliation,
]
