import type { Request } from '../../../../packages/contract/routes.ts'
import { maybe, record, type Static } from '../../../../packages/contract/vocabulary.ts'
import { amountLeft, isPayable } from '../../../../packages/domain/invoices/state.ts'
import { invoices } from '../../../../projections/invoices.ts'
import { requireAmong } from '../../kinds/parents.ts'
import { hostedPortal, permitted, type RequestPart, type HostedPortalView } from './hosted-portal.ts'
import { AtMost, Left } from './hosted-payment.ts'
import { invoiceOf } from '../billing/invoices.ts'
import { invoicesOf } from '../billing/portal.ts'
import { answeredByBook, payByWallet } from '../billing/wallets.ts'
import { orWhatIsUnderWay } from './under-way.ts'

export const WalletForm = record({
  AtMost,
  Left: maybe(Left),
})

type Pressing = RequestPart & Pick<Request<Static<typeof WalletForm>>, 'caller' | 'send' | 'id' | 'body'>

/**
 * From the page: as far as the wallet goes, and never more than the button says, whatever has come into the
 * wallet since. Pressing twice pays once: what is paid is shown as it is.
 */
export async function payByWalletFromPage(request: Pressing): Promise<HostedPortalView> {
  const id = request.params['id']!
  const amount = Number(request.body.AtMost)
  const { state } = await permitted(request, 'wallet')
  await permitted(request, 'invoices')
  await requireAmong(request, { from: invoices, id, columns: invoicesOf(state.customer) })
  const before = await invoiceOf(request, id)
  if (amountLeft(before) < Number(request.body.Left ?? 0)) return hostedPortal(request)
  return orWhatIsUnderWay(
    async () => {
      if (isPayable(before) && !before.walletPayment?.isOpen)
        await payByWallet(request, { invoice: id, customer: state.customer, amount })
      else await answeredByBook(request, id)
      return hostedPortal(request)
    },
    async () => {
      await answeredByBook(request, id)
      const { amountPaid } = await invoiceOf(request, id)
      return amountPaid > before.amountPaid ? hostedPortal(request) : undefined
    },
  )
}
