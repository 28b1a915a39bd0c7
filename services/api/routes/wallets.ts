import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { walletApplyExamples } from '../../../packages/domain/wallets/examples.ts'
import { WalletApplicationResource, WalletApplyRequest } from '../../../packages/domain/wallets/resource.ts'
import { applyWallet } from '../actions/billing/wallets.ts'

const rows = [
  perform('POST /api/v1/merchant/billing/wallet/invoices/{invoiceId}/apply', {
    params: { invoiceId: 'invoice' },
    isChange: true,
    summary: "Pay an invoice, fully or in part, from its customer's wallet",
    scope: 'billing.write',
    body: WalletApplyRequest,
    examples: walletApplyExamples,
    returns: WalletApplicationResource,
    refusals: [
      'wallet_must_cover_the_amount',
      'billing_terms_must_fit',
      'invoice_state_must_allow_it',
      'dependency_must_answer_in_time',
    ],
    action: applyWallet,
  }),
]

export const walletRoutes = section(
  'Wallets',
  'What customers have paid in advance. It becomes yours, less the fee, when it pays an invoice. ' +
    'What was put in by card can be spent after two days.',
  rows,
)
