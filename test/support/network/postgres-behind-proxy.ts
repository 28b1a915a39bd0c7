import { join } from 'node:path'
import type { Test } from 'tap'
import { FaultyProxy } from '../../faults/proxy.ts'
import { temporaryDirectory, testDatabase } from '../postgres.ts'

/** A database that can go away and come back. */
export async function postgresBehindProxy(t: Test) {
  const direct = new URL((await testDatabase(t)).url)
  const { searchParams } = direct
  const name = `.s.PGSQL.${searchParams.get('port') ?? '5432'}`
  const directory = temporaryDirectory(t)
  const proxy = await FaultyProxy.listen(t, { path: join(directory, name) })
  const server = { path: join(searchParams.get('host')!, name) }
  proxy.lead(server)
  const through = new URL(direct)
  through.searchParams.set('host', directory)
  const gone = () => {
    proxy.lead({ path: join(directory, 'nobody') })
    proxy.cutAll()
  }
  return { url: through.href, gone, back: () => proxy.lead(server) }
}
