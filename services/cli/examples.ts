import type { Command } from 'commander'

/** Examples of each command by its name; a test runs them. */
export const examples: Readonly<Record<string, readonly string[]>> = {
  'keys create': [
    'keys create --name "Shop" --scopes payments.read,payments.write --environment sandbox',
    'keys create --name "Payroll" --scopes payouts.write --environment live --expires 2027-01-01 --addresses 203.0.113.7',
  ],
  'keys list': ['keys list', 'keys list --json'],
  'keys roll': ['keys roll 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'],
  'keys revoke': ['keys revoke 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'],
  'deliveries list': [
    'deliveries list --status pending --limit 50',
    'deliveries list --endpoint we_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e',
  ],
  'deliveries retry': [
    'deliveries retry 1042',
    'deliveries retry --endpoint we_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e',
  ],
  'events show': [
    'events show po_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e',
    'events show txn_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e',
    'events show evt_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --json',
  ],
  'events digest': ['events digest'],
  'events copy': ["events copy --from embedded --to 'esdb://localhost:2113?tls=false'"],
  'ledger replay': ['ledger replay'],
  'transfers create': [
    'transfers create --from 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e --to 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0f ' +
      '--amount 5000 --currency XOF --key 2026-17 --by awa --reason "Paid into the wrong account"',
  ],
  'transfers show': ['transfers show 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'],
  'ledger explain': [
    'ledger explain 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e.live.XOF merchant.available',
    'ledger explain 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e.live.XOF merchant.reserved --as-of 2026-11-01 --known-at 2026-11-02',
  ],
  'ledger verify': ['ledger verify', 'ledger verify --json'],
  'projections status': ['projections status'],
  'projections rebuild': ['projections rebuild payouts', 'projections rebuild --all'],
  'privacy export': [
    'privacy export cus_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e',
    'privacy export +221770000000 --merchant 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e --sandbox',
  ],
  'privacy erase': [
    'privacy erase cus_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "Asked for it on 12 May"',
  ],
  'parked list': ['parked list'],
  'parked retry': ['parked retry', 'parked retry payout-01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'],
  'export journal': ['export journal --from 2026-01-01 --to 2026-02-01 --format csv'],
  'export month': ['export month 2026-10 --directory out', 'export month 2026-10 --sandbox --directory out'],
  'export day': ['export day 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e.live.XOF 2026-10-15 --directory out'],
  'period close': ['period close 2026-10', 'period close 2026-10 --sandbox --json'],
  'period reopen': ['period reopen 2026-10 --by awa --reason "An invoice was missing"'],
  reconcile: [
    'reconcile --rail mobile_money.SN.wave --statement wave-2026-10-15.csv',
    'reconcile --rail card --currency XOF --statement card.csv --map reference=order_ref,amount=montant,time=date --decimal ,',
  ],
  'finance grant': ['finance grant awa'],
  'finance revoke': ['finance revoke awa'],
  'finance connect': ['finance connect awa'],
  backup: ['backup /backups/2026-02-01'],
  restore: ['DATA_DIR=.data-restored ./ikw restore /backups/2026-02-01'],
  'audit verify': ['audit verify /backups/2026-02-01'],
  'secrets status': ['secrets status'],
  'secrets rotate': ['secrets rotate'],
  'secrets forget': ['secrets forget'],
  'secrets token-keys': ['secrets token-keys'],
  'secrets retire-token-key': [
    'secrets retire-token-key 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e --by awa --reason "Was in a dump of memory"',
  ],
  demo: ['demo'],
  'cases list': ['cases list', 'cases list --all --json'],
  'cases show': ['cases show 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'],
  'cases resolve': [
    'cases resolve 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e --by awa --reason "The operator reverses it"',
  ],
  'payouts settle': [
    'payouts settle po_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "Confirmed by the operator"',
    'payouts settle po_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by ibra --reason "Seen the confirmation"',
  ],
  'payouts fail': [
    'payouts fail po_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "Confirmed by the operator"',
  ],
  'payouts cancel': ['payouts cancel po_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "Compliance"'],
  'payouts reverse': [
    'payouts reverse po_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "Came back to our account"',
  ],
  'payouts resend': [
    'payouts resend po_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "The operator never got it"',
  ],
  'payments settle': [
    'payments settle pi_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "On the statement of the operator"',
  ],
  'payments fail': [
    'payments fail pi_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "Not on the statement"',
  ],
  'payments return-late': [
    'payments return-late pi_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "The operator takes it now"',
  ],
  'refunds settle': [
    'refunds settle re_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "On the statement of the operator"',
  ],
  'refunds fail': [
    'refunds fail re_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "Not on the statement"',
  ],
  'ledger reverse': ['ledger reverse txn_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e --by awa --reason "Booked twice"'],
  'merchants create': [
    'merchants create --name "Awa SARL" --country SN --currency XOF --email awa@example.com --owner awa@example.com --by ibra --reason "Contract signed"',
  ],
  'merchants suspend': [
    'merchants suspend 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e --by ibra --reason "Documents have expired"',
  ],
  'merchants activate': [
    'merchants activate 01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e --by ibra --reason "Documents renewed"',
  ],
}

/** Adds examples to the help of each command: those above, otherwise its usage. */
export function addExamples(command: Command, path: readonly string[] = []): void {
  for (const child of command.commands) addExamples(child, [...path, child.name()])
  if (command.commands.length > 0) return
  const name = path.join(' ')
  const shown = examples[name] ?? [
    [name, ...command.registeredArguments.map((one) => `<${one.name()}>`)].join(' '),
  ]
  const lines = shown.map((line) => (line.includes('./ikw') ? `  ${line}` : `  ./ikw ${line}`))
  command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
}
