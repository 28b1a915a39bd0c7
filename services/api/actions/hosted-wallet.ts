import type { Request } from '../../../packages/contract/routes.ts'
import { isPayable } from '../../../packages/domain/invoices/state.ts'
import { invoices } from '../../../projections/invoices.ts'
import { requireAmong } from '../kinds/parents.ts'
import { hostedPortal, permitted, type Asking, type HostedPortalView } from './hosted-portal.ts'
import { invoiceOf } from './invoices.ts'
import { invoicesOf } from './portal.ts'
import { payByWallet } from './wallets.ts'

type Pressing = Asking & Pick<Request, 'caller' | 'send' | 'id'>

/** From the page: as far as the wallet goes. Pressing twice pays once: what is paid is shown as it is. */
export async function payByWalletFromPage(request: Pressing): Promise<HostedPortalView> {
  const id = request.params['id']!
  const { state } = await permitted(request, 'wallet')
  await permitted(request, 'invoices')
  await requireAmong(request, { from: invoices, id, columns: invoicesOf(state.customer) })
  const current = await invoiceOf(request, id)
  if (isPayable(current) && !current.walletPayment?.isOpen)
    await payByWallet(request, { invoice: id, customer: state.customer })
  return hostedPortal(request)
}
