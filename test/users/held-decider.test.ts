import t from 'tap'
import { v7 } from 'uuid'
import { Refusal } from '../../packages/contract/refusals.ts'
import { user } from '../../packages/domain/users/user.ts'
import { decide } from '../../packages/kernel/decider.ts'
import { context, fold, scenarios } from '../support/scenarios.ts'

const [first, newer, other] = [v7(), v7(), v7()]
const [email, otherEmail] = ['awa@example.com', 'new@example.com']
const [claim, otherClaim] = [v7(), v7()]
const held = { claim, hold: first }
const heldAnew = { claim, hold: newer }
const heldThere = { claim: otherClaim, hold: other }
const registered = {
  type: 'UserRegistered' as const,
  data: {
    ...{ email, name: 'Awa Koné', phone: null, language: 'fr' as const, password: '$argon2id$…' },
    ...{ held: [held], merchant: null, founded: null },
  },
}
const takenAnew = { type: 'UserEmailHeldAnew' as const, data: { held: [heldAnew] } }
const taking = { email, from: email, replaces: claim }
const moving = { email: otherEmail, from: email, replaces: claim, held: [heldThere] }
const movedFreeing = (freed: typeof held) => ({
  type: 'UserEmailChanged' as const,
  data: {
    ...{ link: null, email: otherEmail, previous: email, isVerified: false },
    ...{ held: [heldThere], freed: [freed] },
  },
})

scenarios(
  user,
  {
    'a claim that an earlier version has lost is taken with the same address, once': {
      given: [registered],
      when: { type: 'ChangeEmail', data: { ...taking, held: [heldAnew] } },
      then: [takenAnew],
    },
    'and is freed when the address is left': {
      given: [registered, takenAnew],
      when: { type: 'ChangeEmail', data: moving },
      then: [movedFreeing(heldAnew)],
    },
    'the same address is no change while its claim is held': {
      given: [registered],
      when: { type: 'ChangeEmail', data: { ...taking, held: [held] } },
      then: [],
    },
  },
  { user: v7() },
)

t.test('who comes back before the address is free is told when to try again', async (t) => {
  const own = { id: v7(), user: v7(), now: context.now }
  const state = fold(user, [registered, movedFreeing(held)], own)
  const back = { email, from: otherEmail, replaces: otherClaim, held: [held] }
  const refusal = new Refusal('resource_must_not_have_changed', { retryAfterSeconds: 1 })
  t.throws(() => decide(user, { type: 'ChangeEmail', data: back }, state, own), refusal)
})
