import { randomBytes } from 'node:crypto'
import t from 'tap'
import { opaqueNumbers } from '../../infra/secrets/opaque-numbers.ts'

const [current, older, stranger] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const ours = opaqueNumbers(() => ({ current, older: [older] }))
const numbers = Array.from({ length: 20 }, (_, index) => 1_000_000 + index)

t.test('a number opens for its purpose, for who has a key of the time', async (t) => {
  const before = opaqueNumbers(() => ({ current: older, older: [] }))
  const others = opaqueNumbers(() => ({ current: stranger, older: [] }))
  for (const text of [ours.seal(42, 'position'), before.seal(42, 'position')]) {
    t.equal(ours.open(text, 'position'), 42)
    t.equal(ours.open(text, 'cursor'), undefined)
    t.equal(others.open(text, 'position'), undefined)
  }
  const inTurn = ['position', 'position', 'cursor'].map((purpose) => ours.seal(7, purpose))
  t.equal(inTurn[0], inTurn[1])
  t.equal(ours.open(inTurn[2]!, 'cursor'), 7)
  t.equal(ours.open(inTurn[2]!, 'position'), undefined)
  t.equal(ours.open(ours.seal(0, 'position'), 'position'), 0)
  t.equal(ours.open(ours.seal(Number.MAX_SAFE_INTEGER, 'position'), 'position'), Number.MAX_SAFE_INTEGER)
})

t.test('whoever holds texts learns neither numbers nor how far they are apart', async (t) => {
  const texts = numbers.map((number) => ours.seal(number, 'position'))
  t.equal(new Set(texts).size, numbers.length)
  const bytes = texts.map((text) => Buffer.from(text, 'base64url'))
  for (const start of [0, 1, 2, 3, 4, 5, 6, 7, 8])
    t.strictSame(
      bytes.filter((block) => numbers.includes(Number(block.readBigUInt64BE(start)))),
      [],
      `as bytes ${start} to ${start + 7}`,
    )
  const alike = bytes.slice(1).map((block, index) => block.filter((byte, at) => byte === bytes[index]![at]))
  t.ok(Math.max(...alike.map(({ length }) => length)) < 8, 'neighbours have hardly a byte in common')
  t.not(texts.toSorted().join(), texts.join(), 'their order says nothing')
})
