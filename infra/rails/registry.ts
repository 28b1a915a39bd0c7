import { choiceOf } from '../../packages/contract/payments/rails.ts'
import { isErased } from '../../packages/contract/payments/holders.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import {
  RailMissingError,
  type PaymentRail,
  type PaymentRails,
  type RailCallback,
  type RailChoice,
  type RailMethod,
  type RailRequest,
  type RailRoute,
  type RailState,
} from '../../packages/kernel/ports/rails.ts'

/** A rail and what it accepts; conditions left out match everything. */
export interface RailEntry {
  readonly environments: readonly Environment[]
  readonly methods?: readonly RailMethod['type'][]
  readonly countries?: readonly string[]
  readonly operators?: readonly string[]
  readonly rail: PaymentRail
}

type Environment = 'sandbox' | 'live'

/** All rails as one: the first entry that matches environment, country, method and operator is used. */
export class RailRegistry implements PaymentRails {
  readonly #entries: readonly RailEntry[]

  constructor(entries: readonly RailEntry[]) {
    this.#entries = entries
  }

  serves(choice: RailChoice): boolean {
    return this.#find(choice) !== undefined
  }

  async submit(request: RailRequest): Promise<RailState> {
    if (isErased(request.method)) return erased
    return this.#ask(request, (rail) => rail.submit(request))
  }

  status(reference: string, route: RailRoute): Promise<RailState> {
    return this.#ask(route, (rail) => rail.status(reference, route))
  }

  async health(route: RailRoute): Promise<'up' | 'degraded' | 'down'> {
    return this.#find(choiceOf(route))?.rail.health(route) ?? 'down'
  }

  /** Callbacks of a rail only count for the environments it serves. */
  onCallback(handle: (callback: RailCallback) => Promise<void>): Subscription {
    const rails = new Set(this.#entries.map(({ rail }) => rail))
    const subscriptions = [...rails].map((rail) => {
      return rail.onCallback(async (callback) => {
        const { reference, livemode } = callback
        const isOwn = this.#entries.some((entry) => entry.rail === rail && isIn(entry, livemode))
        if (!isOwn) throw new Error(`a rail reports ${reference} of an environment that it does not serve`)
        await handle({ ...callback, result: masked(callback.result) })
      })
    })
    const close = async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.close()))
    }
    return { close }
  }

  /** An operation begun while a rail was configured waits until there is one again. */
  async #ask(route: RailRoute, question: (rail: PaymentRail) => Promise<RailState>): Promise<RailState> {
    const entry = this.#find(choiceOf(route))
    if (!entry) throw new RailMissingError(`no rail serves ${route.method.type} here`)
    return masked(await question(entry.rail))
  }

  #find({ livemode, method, country, operator }: RailChoice): RailEntry | undefined {
    return this.#entries.find((entry) => {
      const { methods, countries, operators } = entry
      const fits = <Value>(list: readonly Value[] | undefined, value: Value | undefined) =>
        list === undefined || value === undefined || list.includes(value)
      return (
        isIn(entry, livemode) &&
        fits(methods, method) &&
        fits(countries, country) &&
        fits(operators, operator)
      )
    })
  }
}

const erased: RailState = {
  state: 'failed',
  code: 'recipient_not_found',
  message: 'The recipient was erased',
}

/** Of telephones, accounts and cards: operators repeat them in what they say, which is kept for ever. */
const longNumber = /\+?\d(?:[ .-]?\d){7,}/g

function masked(state: RailState): RailState {
  if (state.state !== 'failed') return state
  return { ...state, message: state.message.replaceAll(longNumber, '[number]') }
}

function isIn({ environments }: RailEntry, livemode: boolean): boolean {
  return environments.includes(livemode ? 'live' : 'sandbox')
}
