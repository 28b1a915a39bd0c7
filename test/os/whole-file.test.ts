import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createWhole, writeWhole } from '../../infra/os/whole-file.ts'
import { temporaryDirectory } from '../support/postgres.ts'

const { pid: ended } = spawnSync(process.execPath, ['--version'])
const random = '0123456789abcdef'
const longAgo = new Date('2026-01-01T00:00:00Z')
const write = async (partial: string) => writeFileSync(partial, 'whole')

t.test('writes of one path at once do not mix, and leave one whole file', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'seen.json')
  let together = () => {}
  const all = new Promise<void>((resolve) => (together = resolve))
  const texts = ['a', 'bb', 'ccc'].map((text) => text.repeat(1_000))
  let begun = 0
  await Promise.all(
    texts.map((text) =>
      writeWhole(path, async (partial) => {
        if (++begun === texts.length) together()
        await all
        writeFileSync(partial, text, { flag: 'wx' })
      }),
    ),
  )
  t.ok(texts.includes(readFileSync(path, 'utf8')))
  t.strictSame(readdirSync(directory), ['seen.json'])
})

t.test('what a write that fails has written is gone, and what was there before stays', async (t) => {
  const path = join(temporaryDirectory(t), 'seen.json')
  writeFileSync(path, 'before')
  const failing = async (partial: string) => {
    writeFileSync(partial, 'half')
    throw new Error('the disk is full')
  }
  await t.rejects(writeWhole(path, failing), /the disk is full/)
  t.strictSame(readdirSync(join(path, '..')), ['seen.json'])
  t.equal(readFileSync(path, 'utf8'), 'before')
})

/** What lies beside `seen.json`, and whether it is there when that has been written. */
const beside: Readonly<Record<string, 'stays' | 'goes'>> = {
  [`seen.json.partial-${ended}-${random}@${hostname()}`]: 'goes',
  [`seen.json.partial-${ended}-${random}@elsewhere`]: 'goes',
  // It runs, however long it has been writing.
  [`seen.json.partial-${process.ppid}-${random}@${hostname()}`]: 'stays',
  // This process does not write it: the one before it in the same container did.
  [`seen.json.partial-${process.pid}-${random}@${hostname()}`]: 'goes',
  [`seen.json.${hostname()}.${ended}.partial`]: 'stays',
  'seen.json.old': 'stays',
  [`seen.json.d.partial-${ended}-${random}@${hostname()}`]: 'stays',
  [`other.json.partial-${ended}-${random}@${hostname()}`]: 'stays',
}

t.test('what killed processes have left of a file goes with its next write, and nothing else', async (t) => {
  const directory = temporaryDirectory(t)
  for (const name of Object.keys(beside)) {
    writeFileSync(join(directory, name), name)
    utimesSync(join(directory, name), longAgo, longAgo)
  }
  const unremovable = `seen.json.partial-${ended}-${'f'.repeat(16)}@${hostname()}`
  mkdirSync(join(directory, unremovable))
  const young = `seen.json.partial-${ended}-${'e'.repeat(16)}@elsewhere`
  writeFileSync(join(directory, young), 'it may still be written')
  await writeWhole(join(directory, 'seen.json'), write)
  const staying = Object.keys(beside).filter((name) => beside[name] === 'stays')
  const left = [...staying, unremovable, young, 'seen.json'].toSorted()
  t.strictSame(readdirSync(directory).toSorted(), left)
})

t.test('a link stays one, and the file that it names is written', async (t) => {
  const directory = temporaryDirectory(t)
  const [file, link] = [join(directory, 'seen.json'), join(directory, 'link')]
  writeFileSync(file, 'before')
  symlinkSync(file, link)
  await writeWhole(link, write)
  t.ok(lstatSync(link).isSymbolicLink())
  t.equal(readFileSync(file, 'utf8'), 'whole')
  t.strictSame(readdirSync(directory).toSorted(), ['link', 'seen.json'])
})

t.test('what is no file is written as it is', async (t) => {
  const pipe = join(temporaryDirectory(t), 'pipe')
  spawnSync('mkfifo', [pipe])
  const reading = readFile(pipe, 'utf8')
  await writeWhole(pipe, (path) => writeFile(path, 'whole'))
  t.equal(await reading, 'whole')
  t.ok(statSync(pipe).isFIFO())
})

t.test('a link to what is not there yet stays one', async (t) => {
  const directory = temporaryDirectory(t)
  const [link, other] = [join(directory, 'link'), join(directory, 'other')]
  symlinkSync('other', link)
  symlinkSync('seen.json', other)
  await writeWhole(link, write)
  t.equal(readFileSync(join(directory, 'seen.json'), 'utf8'), 'whole')
  t.strictSame(readdirSync(directory).toSorted(), ['link', 'other', 'seen.json'])
  symlinkSync('round', join(directory, 'round'))
  await t.rejects(writeWhole(join(directory, 'round'), write), { code: 'ELOOP' })
})

t.test('who may read and write a file stays, also while it is written', async (t) => {
  const path = join(temporaryDirectory(t), 'seen.json')
  for (const mode of [0o600, 0o640, 0o666]) {
    writeFileSync(path, 'before')
    chmodSync(path, mode)
    await writeWhole(path, async (partial) => {
      await write(partial)
      t.equal(statSync(partial).mode & 0o077, 0)
    })
    t.equal(statSync(path).mode & 0o777, mode)
  }
})

t.test(
  'whose a file is stays where root writes it',
  { skip: process.getuid?.() !== 0 && 'only root can' },
  async (t) => {
    const path = join(temporaryDirectory(t), 'seen.json')
    writeFileSync(path, 'before')
    chownSync(path, nobody, nobody)
    await writeWhole(path, write)
    t.match(statSync(path), { uid: nobody, gid: nobody })
  },
)

const nobody = 65_534

/** Root may do everything. */
function asNobody(t: Test): void {
  if (process.geteuid?.() !== 0) return
  process.seteuid?.(nobody)
  t.teardown(() => process.seteuid?.(0))
}

t.test('what may not be written is not replaced, and what another user owns is', async (t) => {
  const directory = temporaryDirectory(t)
  chmodSync(directory, 0o777)
  const [locked, open] = [join(directory, 'locked'), join(directory, 'open')]
  for (const path of [locked, open]) writeFileSync(path, 'before')
  chmodSync(locked, 0o444)
  chmodSync(open, 0o666)
  asNobody(t)
  await t.rejects(writeWhole(locked, write), { code: 'EACCES' })
  t.equal(readFileSync(locked, 'utf8'), 'before')
  await writeWhole(open, write)
  t.equal(readFileSync(open, 'utf8'), 'whole')
  t.equal(statSync(open).mode & 0o777, 0o666)
  t.strictSame(readdirSync(directory).toSorted(), ['locked', 'open'])
})

t.test(
  'a file of another user keeps its group, or its bits are of nobody else',
  { skip: process.getuid?.() !== 0 && 'only root can' },
  async (t) => {
    const directory = temporaryDirectory(t)
    chmodSync(directory, 0o777)
    const [shared, foreign] = [join(directory, 'shared'), join(directory, 'foreign')]
    const files = [
      { path: shared, group: 4_242, mode: 0o660 },
      { path: foreign, group: 4_343, mode: 0o676 },
    ]
    for (const { path, group, mode } of files) {
      writeFileSync(path, 'before')
      chownSync(path, 0, group)
      chmodSync(path, mode)
    }
    const groups = process.getgroups?.() ?? []
    process.setgroups?.([4_242])
    t.teardown(() => process.setgroups?.(groups))
    asNobody(t)
    for (const { path } of files) await writeWhole(path, write)
    t.match(statSync(shared), { uid: nobody, gid: 4_242 })
    t.equal(statSync(shared).mode & 0o777, 0o660)
    t.equal(statSync(foreign).mode & 0o777, 0o666)
  },
)

t.test('of several that create a file, one is first, and the others leave what it wrote', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'seed')
  writeFileSync(`${path}.partial-${ended}-${random}@${hostname()}`, 'what a killed one left')
  const texts = ['a', 'b', 'c'].map((text) => text.repeat(1_000))
  const created = await Promise.all(texts.map((text) => createWhole(path, text)))
  const first = readFileSync(path, 'utf8')
  t.strictSame(
    created,
    texts.map((text) => text === first),
    'who is told so has written it',
  )
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.notOk(await createWhole(path, 'later'))
  t.equal(readFileSync(path, 'utf8'), first)
  t.strictSame(readdirSync(directory), ['seed'])
})
