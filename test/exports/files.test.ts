import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { XmlDocument, XsdValidator } from 'libxml2-wasm'
import t from 'tap'
import { statementEntry, statementHead, statementTail } from '../../infra/exports/camt053.ts'
import { csvHeader, csvRows } from '../../infra/exports/csv.ts'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

/** Texts from outside that have broken files of others. */
const texts = [
  'Awa & Söhne <Dakar>',
  'a\nb',
  'a\rb',
  'a\r\nb',
  'a\n=HYPERLINK("http://evil")',
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  '＝1+1',
  'comma, semicolon; and "quotes"',
  ']]>',
  '<!--',
  '&#0;',
  '&lt;b&gt; &amp;amp; &unknown;',
  'bell \u0007, escape \u001b, zero \u0000',
  'half an emoji \ud83d',
  '\ufffe\uffff',
  '😀'.repeat(100),
  '',
  ' ',
]

t.test('a text from outside stays one field of one line, and no formula', async (t) => {
  await lawOver(t, texts, (text) => {
    const file = csvHeader(['before', 'text', 'after']) + csvRows(['before', 'text', 'after'], [row(text)])
    const [, read, ...more] = parse(file, { record_delimiter: '\r\n' })
    t.strictSame(more, [])
    t.strictSame([read![0], read![2]], ['1', '-2'], 'numbers stay numbers')
    t.ok([text, `'${text}`].some((known) => known.toWellFormed() === read![1]))
    t.notMatch(read![1], /^[=+\-@\t\r\n＝]/)
    const unquoted = file.replaceAll(/"(?:[^"]|"")*"/g, '')
    t.equal(unquoted.split(/[\r\n]+/).length, 3, 'who ends lines at any break finds as many')
  })
})

function row(text: string) {
  return { before: 1, text, after: -2 }
}

t.test('a statement is valid whatever its owner is called', async (t) => {
  const schema = XmlDocument.fromString(readFileSync(join(root, 'test/fixtures/camt.053.001.08.xsd'), 'utf8'))
  const validator = XsdValidator.fromDoc(schema)
  await lawOver(t, texts, (text) => {
    const [from, to] = ['2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z']
    const id = 'f'.repeat(32)
    const most = Number.MAX_SAFE_INTEGER
    const of = { id, account: `L${id}`, accountName: text, owner: text, currency: 'USD', from, to }
    const entry = { id, reference: id, kind: 'payout.settle', effectiveAt: from, recordedAt: to }
    const written =
      statementHead({ ...of, opening: -most, closing: most }) +
      statementEntry({ ...entry, amount: -most }, 'USD') +
      statementTail
    const document = XmlDocument.fromString(written)
    t.doesNotThrow(() => validator.validate(document))
    const shown = document.get('//c:Ownr/c:Nm', {
      c: 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08',
    })?.content
    const writable = text.replaceAll(
      /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu,
      '\ufffd',
    )
    t.equal(shown, ([...writable].slice(0, 70).join('') || '-').replaceAll(/\r\n?/g, '\n'))
  })
})
