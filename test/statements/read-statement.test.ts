import t from 'tap'
import { minorUnits } from '../../infra/statements/amounts.ts'
import { readStatement, type StatementOptions } from '../../infra/statements/read-statement.ts'
import { ZoneClock } from '../../packages/kernel/time/calendar.ts'

const reference = '01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'
const clock = new ZoneClock('Africa/Douala')
const options: StatementOptions = {
  currency: 'XOF',
  digits: 0,
  map: {},
  decimal: 'auto',
  future: '2026-03-12T00:00:00.000Z',
  instantOf: (local) => clock.instantOf(local),
}
const read = (text: string | Buffer, special: Partial<StatementOptions> = {}) =>
  readStatement(Buffer.from(text), { ...options, ...special }).lines

t.test('amounts are read as people write them, to the last unit', (t) => {
  const amounts: readonly (readonly [string, number, number])[] = [
    ['5000', 0, 5_000],
    ['-5 000', 0, -5_000],
    ['5\u00a0000', 0, 5_000],
    ['5\u202f000,00', 0, 5_000],
    ['5.000', 0, 5_000],
    ['1,234,567', 0, 1_234_567],
    ['(250)', 0, -250],
    ['250-', 0, -250],
    ['+1.234,5', 2, 123_450],
    ['1,234.50', 2, 123_450],
    ["1'234.50", 2, 123_450],
    ['0,07', 2, 7],
    ['9007199254740991', 0, Number.MAX_SAFE_INTEGER],
    ['12,3400', 2, 1_234],
    ['-0', 0, 0],
  ]
  for (const [text, digits, minor] of amounts) t.equal(minorUnits(text, digits), minor, text)
  t.equal(minorUnits('1.234', 2, ','), 123_400)
  t.equal(minorUnits('1,234', 3, ','), 1_234)
  for (const [text, digits] of [
    ['12.50', 0],
    ['1,234', 2],
    ['1.2.3', 2],
    ['12,34,567', 0],
    ['abc', 0],
    ['', 0],
    ['1e5', 0],
    ['=1+1', 0],
    ['--5', 0],
    ['9007199254740993', 0],
    ['1.234,567.89', 2],
    ['٥٠٠', 0],
  ] as const)
    t.throws(() => minorUnits(text, digits), { name: 'AmountError' }, text)
  t.end()
})

t.test('the same lines are read from every kind of file', (t) => {
  const line = { number: 1, reference, amount: -5_000, fee: 25, at: '2026-03-10T07:30:00.000Z' }
  const hex = reference.replaceAll('-', '').toUpperCase()
  const files: Readonly<Record<string, string | Buffer>> = {
    'commas and ISO times': `reference,amount,fee,time\n${reference},-5000,25,2026-03-10T07:30:00Z\n`,
    'a BOM, semicolons, CRLF and local times':
      `\ufeffRéf;Montant;Frais;Date\r\n${hex};-5 000;25;10/03/2026 08:30\r\n`.replace('Réf', 'Ref'),
    'tabs, a direction and quotes': `ref\ttype\tamount\tfee\tdate\n"po_${hex}"\tDebit\t"5.000,00"\t25\t2026-03-10 08:30:00\n`,
    'two columns of amounts': `external_id,credit,debit,fees,timestamp\n${reference},,5000,-25,2026-03-10T08:30:00+01:00\n\n\n`,
    'big-endian UTF-16': Buffer.from(
      `\ufeffreference,amount,fee,time\n${reference},-5000,25,2026-03-10T07:30:00Z\n`,
      'utf16le',
    ).swap16(),
    'Windows-1252, as spreadsheets in French write it': Buffer.from(
      `ref;D\u00e9bit;Cr\u00e9dit;Frais;Date;Libell\u00e9\n${hex};5000;;25;10/03/2026 08:30;Pay\u00e9\n`,
      'latin1',
    ),
    'UTF-16': Buffer.from(
      `\ufeffreference,amount,fee,time\n${reference},-5000,25,2026-03-10T07:30:00Z\n`,
      'utf16le',
    ),
  }
  for (const [what, text] of Object.entries(files)) t.same(read(text), [line], what)
  const map = { reference: 'Our Ref', amount: 'Sum', time: 'When' }
  t.match(read(`When,Sum,Our Ref\n2026-03-10,5000,${reference}\n`, { map }), [{ amount: 5_000, reference }])
  t.match(
    read(`reference,amount,time\nWAVE-17,5000,2026-03-10\n${reference},5000,2026-03-10\n`),
    [{ reference: '' }, { reference }],
    "an operator's own id says nothing to us",
  )
  t.end()
})

t.test('of two columns that could be meant, none is guessed', (t) => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['reference,external_id,amount,time', /"reference" and "external_id".*--map reference=/],
    ['reference,net_amount,Montant,time', /"net_amount" and "Montant".*--map amount=/],
    ['reference,amount,date,time', /"date" and "time".*--map time=/],
    ['Reference,reference,amount,time', /"Reference" and "reference".*names of their own/],
  ]
  for (const [header, message] of refused)
    t.throws(() => read(`${header}\n${reference},5000,2026-03-10,2026-03-10\n`), { message }, header)
  const twice = 'ref,Sum,sum,time\n' + `${reference},1,2,2026-03-10\n`
  t.throws(() => read(twice, { map: { amount: 'Sum' } }), { message: /names of their own/ })
  const both = `reference,external_id,amount,time\nTX1,${reference},5000,2026-03-10\n`
  t.match(read(both, { map: { reference: 'external_id' } }), [{ reference, amount: 5_000 }])
  t.end()
})

t.test('a file in which no column is the reference is refused, unless it is named as having none', (t) => {
  const file = `referense,amount,time\n${reference},5000,2026-03-10\n`
  const message =
    /No column is known as reference among "referense", "amount", "time", such as reference, ref, .*: say --map reference=…, or --map reference= if/
  t.throws(() => read(file), { message })
  t.match(read(file, { map: { reference: 'Referense' } }), [{ reference }])
  t.match(read(file, { map: { reference: '' } }), [{ reference: '', amount: 5_000 }])
  const typed = `ref,type,amount,time\n${reference},QR code,5000,2026-03-10\n`
  t.throws(() => read(typed), { message: /"QR code" is neither money in nor money out/ })
  t.match(read(typed, { map: { direction: '' } }), [{ amount: 5_000 }])
  t.end()
})

t.test('so is one in whose column of references none is ours', (t) => {
  const lines = 'WAVE-17,5000,2026-03-10\n,250,2026-03-10\n'
  const message = /such as "WAVE-17", none is ours: say --map reference=…, or --map reference= if/
  t.throws(() => read(`reference,amount,time\n${lines}`), { message })
  t.throws(() => read(`id,amount,time\n${lines}`, { map: { reference: 'id' } }), { message })
  const unnamed = read(`reference,amount,time\n${lines}`, { map: { reference: '' } })
  t.match(unnamed, [{ reference: '' }, { reference: '' }])
  t.equal(read(`reference,amount,time\n,250,2026-03-10\n`).length, 1, 'a line of the operator alone')
  t.end()
})

t.test('a column that is named for one field is read for no other', (t) => {
  const file = `ref,credit,fee,time\n${reference},5000,25,2026-03-10\n`
  t.match(read(file, { map: { amount: 'Fee' } }), [{ amount: 25, fee: 0 }])
  const message = '--map names "Credit" for two fields.'
  t.throws(() => read(file, { map: { amount: 'credit', fee: 'Credit' } }), { message })
  t.end()
})

t.test('columns of which nothing is read are named', (t) => {
  const unreadIn = (header: string) =>
    readStatement(Buffer.from(`${header}\n${reference},5000,2026-03-10,7\n`), options).unread
  t.strictSame(unreadIn('reference,amount,time,feee'), ['feee'])
  t.strictSame(unreadIn('reference,amount,time,fee'), [])
  t.strictSame(unreadIn('reference,amount,time,'), [])
  t.end()
})

t.test('what a message quotes of a file is short, however long the file is', (t) => {
  const long = 'é😀'.repeat(100_000)
  const header = 'reference,amount,currency,time,type'
  const wrong = [
    `${header}\n${reference},${long},XOF,2026-03-10,in`,
    `${header}\n${reference},5,${long},2026-03-10,in`,
    `${header}\n${reference},5,XOF,${long},in`,
    `${header}\n${reference},5,XOF,2026-03-10,${long}`,
    `${header}\n${reference},${'1'.repeat(100_000)},XOF,2026-03-10,in`,
    `${header}\n${reference}"${long}"`,
    `${header}\n"${long}"${long},5,XOF`,
    `${long},${header.slice(1)}\n7,a,5,XOF,2026-03-10,in`,
    `${'ref,'.repeat(10_000)}${header}\na`,
    `${'a,'.repeat(10_000)}b\n${'c,'.repeat(10_000)}d`,
  ]
  for (const text of wrong) {
    const { message } = errorOf(() => read(text))
    t.ok(message.length < 1_000, message.slice(0, 200))
    t.ok(message.isWellFormed(), 'no character is cut in half')
  }
  t.end()
})

function errorOf(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was refused')
}

t.test('an amount beside the columns that were named is not theirs', (t) => {
  const file = `reference,amount,in,out,time\n${reference},90000,5000,,2026-03-10\n`
  t.match(read(file, { map: { credit: 'in', debit: 'out' } }), [{ amount: 5_000 }])
  t.end()
})

t.test('one line that cannot be understood refuses the whole file and is named', (t) => {
  const header = 'reference,amount,currency,time\n'
  const good = `${reference},5000,XOF,2026-03-10\n`
  const poisoned: Readonly<Record<string, RegExp>> = {
    [`${reference},12.50,XOF,2026-03-10\n`]: /Line 2: "12.50" has more than 0 decimals/,
    [`${reference},5000,EUR,2026-03-10\n`]: /Line 2: its currency is EUR/,
    [`${reference},5000,XOF,2026-02-30\n`]: /Line 2: "2026-02-30" is no time/,
    [`${reference},5000,XOF,2026-02-30T10:00:00Z\n`]: /Line 2: "2026-02-30T10:00:00Z" is no time/,
    [`${reference},5000,XOF,2026-02-29 10:00+01:00\n`]: /Line 2: "2026-02-29 10:00\+01:00" is no time/,
    [`${reference},5000,XOF,0000-01-01\n`]: /Line 2: "0000-01-01" is before 1900/,
    [`${reference},5000,XOF,01/01/0001\n`]: /Line 2: "01\/01\/0001" is before 1900/,
    [`${reference},5000,XOF,0001-01-01T00:00:00+14:00\n`]: /Line 2: .* is before 1900/,
    [`${reference},5000,XOF,31/02/2026 25:00\n`]: /Line 2: .* is no time/,
    [`${reference},,XOF,2026-03-10\n`]: /Line 2: it has no amount/,
    [`${reference},5000,XOF,2062-03-10\n`]: /Line 2: "2062-03-10" is in the future/,
    [`${reference},5000,XOF,2026-03-12\n`]: /Line 2: .* is in the future/,
    [`${reference},5000,XOF,1926-03-10\n`]: /more than a year: line 2 is of 1926-03-10T.* and line 1 of 2026/,
    [`${reference},9007199254740991,XOF,2026-03-10\n`]: /add up to more than can be counted/,
    [`${reference},5000,XOF\n`]: /no CSV/,
    [`"${reference},5000,XOF,2026-03-10\n`]: /no CSV/,
    'a\0b,5000,XOF,2026-03-10\n': /bytes of zero/,
  }
  for (const [line, message] of Object.entries(poisoned))
    t.throws(() => read(header + good + line + good), { message }, JSON.stringify(line))
  t.throws(() => read('reference,time\na,2026-03-10\n'), { message: /No column is known as amount/ })
  t.throws(() => read(header), { message: /no lines/ })
  t.throws(() => read(''), { message: /no lines/ })
  t.throws(() => read(header + good, { map: { amount: 'Total' } }), { message: /no column "Total"/ })
  const many = Array.from({ length: 100 }, () => `${reference},x,XOF,2026-03-10\n`).join('')
  t.throws(() => read(header + many), { message: /Line 20: .*\n… and 80 more$/ })
  t.end()
})

t.test('a file that says it is UTF-8 and is cut within a letter is refused', (t) => {
  const whole = Buffer.from(`\ufeffreference,amount,date\n${reference},5,2026-03-10 café`)
  t.throws(() => read(whole.subarray(0, -1)), /says that it is UTF-8/)
  t.end()
})

t.test('times are those of the clocks there, also when they change', (t) => {
  const paris = new ZoneClock('Europe/Paris')
  t.equal(paris.instantOf('2026-03-28T12:00'), '2026-03-28T11:00:00.000Z')
  t.equal(paris.instantOf('2026-03-29T12:00'), '2026-03-29T10:00:00.000Z')
  t.equal(paris.dayOf('2026-03-29T22:30:00.000Z'), '2026-03-30')
  t.equal(clock.dayOf('2026-03-10T23:30:00.000Z'), '2026-03-11')
  t.end()
})

t.test('a first line that says what parts the columns is taken for that, and is no header', (t) => {
  const rows = (mark: string) =>
    [`reference|amount|time`, `${reference}|1,5|2026-03-10T07:30:00Z`].join('\n').replaceAll('|', mark)
  for (const [line, mark] of [
    ['sep=;\r\n', ';'],
    ['\ufeffSEP=;\n\n', ';'],
    ['\n"sep=|"\n', '|'],
    ['sep=\t\n', '\t'],
    ['sep=^\r', '^'],
    ["sep=';'\n", ';'],
    ['"sep=;";;\n', ';'],
    ['sep=;;;\r\n', ';'],
    ['sep=|,,\n', '|'],
  ] as const)
    t.match(read(line + rows(mark), { digits: 2 }), [{ number: 1, reference, amount: 150 }], line)
  // It says more than the header: commas of a name part nothing.
  const named = `sep=;\nref, ours, theirs, both;amount;time\n${reference};5;2026-03-10T07:30:00Z\n`
  t.match(read(named, { map: { reference: 'ref, ours, theirs, both' } }), [{ reference, amount: 5 }])
  t.throws(() => read('sep=;\n'), /no lines/)
  t.throws(() => read(`sep=;\n${rows(',')}`), /No column is known as reference/)
  t.end()
})

t.test('the names of columns may be quoted, and have several lines', (t) => {
  const row = `${reference},5000,2026-03-10,"a;b"`
  const [wanted] = read(`reference,amount,time,note\n${row}`)
  for (const names of [
    '"Transaction\nReference",amount,time,note',
    '"Transaction \r\n Reference",amount,time,note',
    'transaction reference,amount,time,"a; b; c; d; ""e"";"',
  ])
    t.strictSame(read(`${names}\n${row}`, { map: { reference: 'transaction reference' } }), [wanted], names)
  t.throws(() => read(`"Our\nid",amount,time,note\n${row}`), /among "Our id", "amount", "time"/)
  t.end()
})

t.test('what stands before the header does not say what stands between its columns', (t) => {
  const lines = [`reference,amount,time,note`, `${reference},5000,2026-03-10,"a;b"`]
  const [wanted] = read(lines.join('\n'))
  for (const before of ['\n', '\r\n\r\n', ',,,\n', ',,,\r\n\n'])
    t.strictSame(read(before + lines.join('\n')), [wanted], JSON.stringify(before))
  const withMoreSemicolons = [lines[0], `${reference},5000,2026-03-10,a;b;c;d;e`, '']
  t.strictSame(read(withMoreSemicolons.join('\r')), [wanted], 'lines may end as on an old Mac')
  t.end()
})
