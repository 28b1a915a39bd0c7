/** How users are refused who sign in, or change what signs them in. */
export const userRefusals = {
  email_and_password_must_be_right: [401, 'IKW-AUTH-003', false, 'E-mail or password is wrong'],
  password_must_be_right: [401, 'IKW-AUTH-003', false, 'The current password is wrong'],
  code_must_be_right: [401, 'IKW-AUTH-004', false, 'Code is wrong, expired or already used'],
  challenge_must_be_pending: [409, 'IKW-RES-002', false, 'This challenge is no longer open for an answer'],
  passkey_must_be_registered: [409, 'IKW-RES-002', false, 'The user has no passkey'],
  passkey_must_be_new: [409, 'IKW-RES-004', false, 'This passkey is already registered'],
  passkeys_must_be_within_the_limit: [
    409,
    'IKW-RES-002',
    false,
    'The user has as many passkeys as there may be',
  ],
  user_must_keep_a_way_to_sign_in: [409, 'IKW-RES-002', false, 'This is the only way to sign in'],
  totp_must_be_off: [409, 'IKW-RES-002', false, 'An authenticator is already on'],
  totp_must_be_on: [409, 'IKW-RES-002', false, 'No authenticator is on'],
  totp_setup_must_be_the_newest: [409, 'IKW-RES-002', false, 'This setup has expired or was replaced'],
  token_must_be_valid: [401, 'IKW-AUTH-005', false, 'Token is not valid, expired or already used'],
  sign_in_must_not_be_locked: [
    423,
    'IKW-AUTH-006',
    true,
    'Sign-in with a password is locked for a while after too many failures',
  ],
  password_must_be_hard_to_guess: [400, 'IKW-REQ-001', false, 'This password is easy to guess'],
  email_must_be_free: [409, 'IKW-RES-004', false, 'Somebody has registered with this e-mail address'],
  email_must_not_be_verified_yet: [409, 'IKW-RES-002', false, 'The e-mail address is already verified'],
} as const
