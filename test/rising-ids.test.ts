import t from 'tap'
import { parse, validate, version } from 'uuid'
import { risingIds } from '../services/composition/ids.ts'

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
