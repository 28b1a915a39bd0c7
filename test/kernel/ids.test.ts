import t from 'tap'
import { parse, v5, validate, version } from 'uuid'
import { derivedId } from '../../packages/contract/identity.ts'
import { risingIds } from '../../services/composition/ids.ts'
import { fc } from '../support/properties.ts'

t.test('ids are UUIDs of version 7, each greater than the one before, and carry the time', (t) => {
  const newId = risingIds()
  const from = Date.now()
  const ids = Array.from({ length: 5_000 }, newId)
  const until = Date.now()
  t.ok(ids.every((id) => validate(id) && version(id) === 7))
  t.ok(ids.every((id, index) => index === 0 || id > ids[index - 1]!))
  const times = ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16))
  t.ok(times.every((time) => time >= from && time <= until))
  t.end()
})

t.test(
  'two processes make different ids in the same millisecond, and no two ids share their random part',
  (t) => {
    const [one, other] = [risingIds(), risingIds()]
    const ids = Array.from({ length: 2_000 }, () => [one(), other()]).flat()
    const random = ids.map((id) => Buffer.from(parse(id).subarray(11)).toString('hex'))
    t.equal(new Set(ids).size, ids.length)
    t.equal(new Set(random).size, ids.length)
    t.end()
  },
)

t.test('a derived id is the UUID of version 5 of its namespace and name', (t) => {
  const bytes = fc.uint8Array({ minLength: 0, maxLength: 40 })
  const name = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    bytes.map((some) => Buffer.from(some).toString('latin1')),
  )
  fc.assert(
    fc.property(fc.uuid(), name, (namespace, text) => {
      t.equal(derivedId(namespace, text), v5(Buffer.from(text), namespace))
    }),
  )
  t.throws(() => derivedId('payout', 'a name'), TypeError)
  t.end()
})
