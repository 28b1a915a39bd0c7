import t from 'tap'
import { printable, printableLines } from '../../services/cli/terminal/printable.ts'
import { table } from '../../services/cli/terminal/output.ts'
import { openCommandLine } from '../support/cli.ts'
import { lawOver } from '../support/law.ts'
import { fc } from '../support/properties.ts'

/** What a terminal obeys instead of showing it; written apart from the code that it judges. */
const obeyed = /\p{Cc}|\p{Zl}|\p{Zp}|\p{Bidi_Control}|\p{Cs}/u
const escapes = [
  '\u001b[2J\u001b[H',
  '\u009b31m',
  '\u001b]0;title\u0007',
  '\u001b]8;;https://evil.example\u001b\\here\u001b]8;;\u001b\\',
  'paid\rfailed',
  '\u202eecnalab',
  'a\bb\u007f\ud800',
]

t.test('nothing that a terminal obeys is left in text of others, and what it shows stays', async (t) => {
  const text = fc.string({ unit: 'binary', size: 'large' })
  fc.assert(fc.property(text, (given) => !obeyed.test(printable(given))))
  for (const given of escapes) t.notMatch(printable(given), obeyed, JSON.stringify(given))
  for (const given of ['Aïcha Touré', 'مرحبا', '👩‍👩‍👧 \\u0041', '日本']) t.equal(printable(given), given)
  t.equal(printable('\u001b[2J'), '\\u001b[2J')
  t.equal(printableLines('one\ntwo\u0007'), 'one\ntwo\\u0007')
})

t.test('a cell of a table makes no second line', async (t) => {
  const lines = table([{ answer: 'ok\nid  status\n1  succeeded' }], '').split('\n')
  t.equal(lines.length, 2)
})

t.test("an endpoint's answer moves nothing on the terminal of who lists deliveries", async (t) => {
  const { service, run } = await openCommandLine()
  const { pool } = service.service.runtime.postgres
  const answer = escapes.slice(0, -1).join(' ')
  const text = 'update deliveries set last_answer = $1 where event = (select min(event) from deliveries)'
  await pool.query(text, [answer])
  const listings = await Promise.all([
    run('deliveries', 'list', '--limit', '100'),
    run('deliveries', 'list', '--limit', '100', '--json'),
    run('events', 'show', 'payout-\u001b[2J'),
    run('keys', 'revoke', '\u009b2J'),
  ])
  await lawOver(t, listings, ({ stdout, stderr }) =>
    t.notMatch((stdout + stderr).replaceAll('\n', ''), obeyed),
  )
  const [, json] = listings
  const found = JSON.parse(json!.stdout) as { last_answer: string | null }[]
  t.ok(
    found.some(({ last_answer }) => last_answer === answer),
    'JSON still says the same',
  )
})
