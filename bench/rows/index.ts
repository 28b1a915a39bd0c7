import type { Row } from '../support/report/contest.ts'
import { accounts } from './accounts.ts'
import { append } from './append.ts'
import { appendInsert } from './append-insert.ts'
import { audit } from './audit.ts'
import { deadEndpoint } from './dead-endpoint.ts'
import { deliver } from './deliver.ts'
import { eventStoreDbAppend, eventStoreDbFollow } from './eventstoredb.ts'
import { hangingMerchant } from './hanging-merchant.ts'
import { growth } from './growth.ts'
import { intent } from './intent.ts'
import { list } from './list.ts'
import { memory } from './memory.ts'
import { notary } from './notary.ts'
import { notaryCost } from './notary-cost.ts'
import { payout, payoutWhole } from './payout.ts'
import { payoutHot } from './payout-hot.ts'
import { read } from './read.ts'
import { rebuild } from './rebuild.ts'
import { reconcile } from './reconcile.ts'
import { renewals } from './renewals.ts'
import { sealed } from './sealed.ts'
import { sessions } from './sessions.ts'
import { signIn } from './sign-in.ts'
import { signInFlood } from './sign-in-flood.ts'
import { start } from './start.ts'
import { timers } from './timers.ts'

/** All rows, in the order of the table. */
export const rows: readonly Row[] = [
  append,
  appendInsert,
  payout,
  payoutWhole,
  payoutHot,
  accounts,
  intent,
  read,
  list,
  sessions,
  signIn,
  signInFlood,
  rebuild,
  sealed,
  notary,
  notaryCost,
  audit,
  reconcile,
  deliver,
  deadEndpoint,
  hangingMerchant,
  timers,
  renewals,
  start,
  memory,
  growth,
  eventStoreDbAppend,
  eventStoreDbFollow,
]
