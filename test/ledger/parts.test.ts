import { mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { removeAbandonedParts, whileInUse } from '../../infra/history/abandoned-parts.ts'
import { SealedParts } from '../../infra/history/sealed-parts.ts'
import { NoSpaceLeftError } from '../../infra/history/spare-space.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'

const longAgo = new Date(Date.now() - 3_600_000)
const namesIn = (directory: string) => readdirSync(directory).sort()

/** As somebody has left it who was killed. */
function leftBehind(directory: string, name: string): void {
  mkdirSync(join(directory, name))
  utimesSync(join(directory, name), longAgo, longAgo)
}

t.test('what a killed audit has left is removed, and nothing else', async (t) => {
  const directory = temporaryDirectory(t)
  leftBehind(directory, 'ikw-parts-killed')
  leftBehind(directory, 'postgres')
  symlinkSync(join(directory, 'postgres'), join(directory, 'ikw-parts-link'))
  const other = await SealedParts.open<number>({ directory })
  const before = namesIn(directory).filter((name) => !name.endsWith('killed'))
  const own = await SealedParts.open<number>({ directory })
  t.strictSame(
    before.filter((name) => !namesIn(directory).includes(name)),
    [],
  )
  t.equal(namesIn(directory).length, 4, 'parts of another audit that is at work stay')
  await own.add(0, 7)
  await other.add(0, 8)
  t.strictSame((await own.read(0).next()).value, [7])
  t.strictSame((await other.read(0).next()).value, [8])
  await Promise.all([own.close(), other.close()])
  t.strictSame(namesIn(directory), ['ikw-parts-link', 'postgres'])
})

t.test('an audit that takes long shows that it is at work', async (t) => {
  const directory = temporaryDirectory(t)
  leftBehind(directory, 'ikw-parts-slow')
  const path = join(directory, 'ikw-parts-slow')
  const endUse = whileInUse(path, 10)
  t.teardown(endUse)
  await eventually(
    async () => statSync(path).mtimeMs,
    (ms) => ms > longAgo.getTime() + 1_000_000,
  )
  await removeAbandonedParts(directory)
  t.strictSame(namesIn(directory), ['ikw-parts-slow'])
})

t.test('nothing is written that would leave others too little of the disk', async (t) => {
  const directory = temporaryDirectory(t)
  const parts = await SealedParts.open<string>({ directory, keepFreeBytes: Number.MAX_SAFE_INTEGER })
  await t.rejects(parts.add(0, 'x'.repeat(100_000)), NoSpaceLeftError)
  await t.rejects(
    parts.add(0, 'x'.repeat(100_000)),
    /MB are free on the disk of \S+, of which \d+ MB are left/,
  )
  await parts.close()
  t.strictSame(namesIn(directory), [])
})
