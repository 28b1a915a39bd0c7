import { Refusal } from '../../packages/contract/refusals.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import type { PolicyCommand } from '../../packages/kernel/policy.ts'
import { isPassing } from '../composition/observing/failures.ts'
import type { Tools } from './runner/process.ts'

/** Commands to one stream; all or none. */
type Orders = readonly [PolicyCommand, ...PolicyCommand[]]

interface Attempt {
  readonly owner: MerchantOwner
  readonly tools: Tools
  /** Opened when the command is refused, with the reason. */
  readonly otherwise: (why: string) => PolicyCommand
}

/** Moves money to where an operator says it is; false when that is refused, and people decide. */
export async function tryOrOpenCase(orders: Orders, attempt: Attempt): Promise<boolean> {
  const { owner, tools, otherwise } = attempt
  try {
    await tools.sendAll(orders, owner, 'rail')
    return true
  } catch (error) {
    if (!(error instanceof Refusal) || isPassing(error)) throw error
    await tools.send(otherwise(error.message), owner, 'rail')
    return false
  }
}
