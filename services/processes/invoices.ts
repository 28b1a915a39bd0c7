import { languageOf } from '../../packages/contract/locale/languages.ts'
import { customer } from '../../packages/domain/customers/customer.ts'
import { invoice } from '../../packages/domain/invoices/invoice.ts'
import { numberText } from '../../packages/domain/invoices/resource.ts'
import { amountLeft, type ExistingInvoice } from '../../packages/domain/invoices/state.ts'
import { readState } from '../../packages/kernel/history.ts'
import { ownerOf, type Owner } from '../../packages/kernel/owner.ts'
import { erasedText } from '../../packages/kernel/personal.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { existingMerchant } from './existing-merchant.ts'
import { apart } from './runner/apart.ts'
import { reminderMail } from './mails/reminder-mails.ts'
import { post } from './mails/post.ts'
import type { Process, Tools } from './runner/process.ts'

export const invoiceProcess: Process = {
  timers: { invoice_overdue: markOverdue, invoice_reminder: remindWhenPayable },
}

const dayMs = 86_400_000
const reminding = apart(remind)

/** Nobody can pay a merchant that is suspended: its customers are reminded once it is active again. */
async function remindWhenPayable(timer: DueTimer<Owner>, tools: Tools): Promise<Date> {
  const owner = ownerOf(timer)
  const isSuspended =
    'merchant' in owner && (await existingMerchant(tools.dependencies, owner.merchant)).status === 'suspended'
  return isSuspended ? new Date(tools.dependencies.clock().getTime() + dayMs) : reminding(timer, tools)
}

async function markOverdue({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<undefined> {
  const order = to(invoice, subject, { type: 'MarkOverdue', data: {} })
  await tools.send(order, { merchant, livemode }, 'timer')
}

/** Whoever is late is told what is left to pay, and where. */
async function remind({ subject: id, ...timer }: DueTimer<Owner>, tools: Tools): Promise<void> {
  const owner = ownerOf(timer)
  const state = await readState(tools.dependencies.store, invoice, id)
  if (state.status !== 'open' || !('merchant' in owner)) return
  const address = await addressOf(state, tools)
  if (address !== null) {
    const { name, country } = await existingMerchant(tools.dependencies, owner.merchant)
    const { url, currency, dueDate, livemode, number } = state
    const about = { name, url, currency, dueDate: dueDate!, livemode, amount: amountLeft(state) }
    const mail = { ...about, number: number === null ? null : numberText(number) }
    await post(tools, { to: address, ...reminderMail(languageOf(country), mail) })
  }
  const noted = { number: state.reminders + 1, isMailed: address !== null }
  await tools.send(to(invoice, id, { type: 'NoteReminder', data: noted }), owner, 'timer')
}

async function addressOf({ customer: id }: ExistingInvoice, { dependencies }: Tools): Promise<string | null> {
  if (id === null) return null
  const state = await readState(dependencies.store, customer, id)
  const email = state.status === 'active' ? state.email : null
  return email === '' || email === erasedText ? null : email
}
