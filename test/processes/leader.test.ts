import { once } from 'node:events'
import t from 'tap'
import { lead, type LeaderTerm } from '../../infra/postgres/consumers/leader.ts'
import { testDatabase, ownLocks } from '../support/postgres.ts'

/** Leads until it is told to stop, and notes who led when. */
function contender(name: string, journal: string[]) {
  const waiting = new Set<() => void>()
  const run = async ({ signal }: LeaderTerm) => {
    journal.push(`${name} leads`)
    for (const wake of waiting) wake()
    if (!signal.aborted) await once(signal, 'abort')
    journal.push(`${name} stops`)
  }
  const leading = () => new Promise<void>((wake) => waiting.add(wake))
  return { run, leading }
}

t.test('of two contenders one leads, and the other takes over when it stops', async (t) => {
  const { pool } = await testDatabase(t)
  const journal: string[] = []
  const [first, second] = [contender('first', journal), contender('second', journal)]
  const firstLeads = first.leading()
  const firstLeadership = lead({ pool, name: 'projector', instance: 'test' }, first.run)
  await firstLeads
  const secondLeads = second.leading()
  const secondLeadership = lead({ pool, name: 'projector', instance: 'test' }, second.run)
  const relay = contender('relay', journal)
  const relayLeads = relay.leading()
  const relayLeadership = lead({ pool, name: 'relay', instance: 'test' }, relay.run)
  await relayLeads
  await firstLeadership.close()
  await secondLeads
  await secondLeadership.close()
  await relayLeadership.close()
  const changes = ['first leads', 'relay leads', 'first stops', 'second leads', 'second stops', 'relay stops']
  t.same(journal, changes)
})

t.test('a leader whose connection breaks stops, and is elected again', async (t) => {
  const { pool } = await testDatabase(t)
  const journal: string[] = []
  const only = contender('only', journal)
  const leads = only.leading()
  const leadership = lead({ pool, name: 'projector', instance: 'test' }, only.run)
  await leads
  const leadsAgain = only.leading()
  const killed = await pool.query(`
    select pg_terminate_backend(pid) from ${ownLocks} where locktype = 'advisory' and granted`)
  t.equal(killed.rowCount, 1)
  await leadsAgain
  await leadership.close()
  t.same(journal, ['only leads', 'only stops', 'only leads', 'only stops'])
})

t.test('what a leader throws is told, and the lock is free', async (t) => {
  const { pool } = await testDatabase(t)
  const failure = new Error('a broken invariant')
  const { done } = lead({ pool, name: 'projector', instance: 'test' }, async () => Promise.reject(failure))
  await t.rejects(done, failure)
  const journal: string[] = []
  const next = contender('next', journal)
  const leads = next.leading()
  const leadership = lead({ pool, name: 'projector', instance: 'test' }, next.run)
  await leads
  await leadership.close()
  t.same(journal, ['next leads', 'next stops'])
})
