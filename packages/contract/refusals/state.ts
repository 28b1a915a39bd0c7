/**
 * Commands that the status of a resource does not allow. They share a code: the message and the detail say
 * what the status would have to be.
 */
export const stateRefusals = {
  payout_must_not_be_abandoned: of('The request took too long and its money has been given back'),
  payout_must_be_pending: of('Only a pending payout can be canceled'),
  payout_must_be_in_transit: of('The payout is not in transit'),
  payout_must_be_under_way: of('The payout has ended already'),
  payout_must_be_paid: of('The payout was not paid'),
  payout_must_be_returnable: of('A payout can be returned for 90 days'),
  payout_must_have_failed: of('The payout has not failed'),
  refund_must_not_be_abandoned: of('The request took too long and was given up'),
  contact_change_must_be_pending: of('This change was made, canceled or replaced'),
  checkout_session_must_be_open: of('The session is no longer open'),
  checkout_session_must_be_paid: of('The session is not paid'),
  checkout_payment_must_not_be_under_way: of('The payment is under way, or was made'),
  intervention_must_have_two_names: of('Somebody else has to approve it'),
} as const

function of<const Message extends string>(message: Message) {
  return [409, 'IKW-RES-002', false, message] as const
}
