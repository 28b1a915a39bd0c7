import t from 'tap'
import { RecentlyUsed } from '../../packages/kernel/execution/recently-used.ts'
import { lawOver } from '../support/law.ts'

const names = (count: number) => Array.from({ length: count }, (_, number) => `name ${number}`)

t.test('what is used stays, and what is not used is forgotten', async (t) => {
  const kept = new RecentlyUsed<number>(10)
  kept.set('used', 0)
  kept.set('unused', 1)
  await lawOver(t, names(100), (name) => {
    t.equal(kept.get('used'), 0)
    kept.set(name, 2)
  })
  t.equal(kept.get('unused'), undefined)
  t.equal(kept.get('name 99'), 2)
  const left = names(100).filter((name) => kept.get(name) !== undefined)
  t.ok(left.length <= 10, `${left.length} are left`)
})

t.test('what must stay is there however much else is used, until it may go', async (t) => {
  const busy = new Set([1, 2, 3])
  const kept = new RecentlyUsed<number>(4, (value) => busy.has(value))
  for (const value of busy) kept.set(`busy ${value}`, value)
  for (const name of names(50)) kept.set(name, 0)
  await lawOver(t, busy, (value) => t.equal(kept.get(`busy ${value}`), value))
  busy.clear()
  for (const name of names(50)) kept.set(name, 0)
  for (const value of [1, 2, 3]) t.equal(kept.get(`busy ${value}`), undefined)
})
