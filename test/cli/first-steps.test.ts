import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import t from 'tap'
import { examples } from '../../services/cli/examples.ts'
import { programOf } from '../../services/cli/program.ts'
import { openCommandLine, settingsOf } from '../support/cli.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { root } from '../support/root.ts'

const run = promisify(execFile)
const { service, history, rows, run: ikw } = await openCommandLine()
const read = (file: string) => readFileSync(join(root, file), 'utf8')

t.test('the first lines of the README work with any port and any directory', async (t) => {
  const block = read('README.md')
    .match(/^ {4}api=[^]*?\n(?=\S)/m)![0]
    .replaceAll(/^ {4}/gm, '')
  const script = block.replaceAll(/^curl /gm, 'printf "\\n---\\n"; curl -sS ')
  const { PATH = '' } = process.env
  const { stdout } = await run('sh', ['-c', script], { env: { PATH, ...settingsOf(service) } })
  const answers = stdout
    .split('---\n')
    .slice(1)
    .map((text) => JSON.parse(text) as Record<string, unknown>)
  t.match(answers, [{ object: 'balance' }, { object: 'payout', amount: 5_000 }, { object: 'list' }])
})

/** Commands by their whole name. */
function commandsOf(command: Command, path: readonly string[] = []): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[path.join(' '), command]]
  return command.commands.flatMap((child) => commandsOf(child, [...path, child.name()]))
}

t.test('the help of every command ends with examples that it would take', async (t) => {
  const commands = new Map(commandsOf(await programOf()))
  t.strictSame(
    Object.keys(examples).filter((name) => !commands.has(name)),
    [],
    'no example of what is not there',
  )
  await lawOver(t, commands, async ([name, command]) => {
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text) })
    command.outputHelp()
    const shown = help.split('Examples:\n')[1]!.trim().split('\n')
    await lawOver(t, shown, (line) => {
      const words = line.replace(/^.*\.\/ikw /, '')
      t.ok(words.startsWith(name), line)
      const options = [...words.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option)
      const known = command.options.map(({ long }) => long)
      t.strictSame(
        options.filter((option) => !known.includes(option!)),
        [],
        line,
      )
    })
  })
})

t.test('each command is loaded by its name', async (t) => {
  const { commands: all } = await programOf()
  await lawOver(t, all, async (command) => {
    const names = (await programOf(command.name())).commands.map((loaded) => loaded.name())
    t.ok(names.includes(command.name()) && names.length < all.length, `${command.name()}: ${names.join()}`)
  })
})

t.test('ikw runs from any directory, and says which version it is', async (t) => {
  const home = temporaryDirectory(t)
  copyFileSync(join(root, 'ikw'), join(home, 'ikw'))
  for (const name of ['dist', 'package.json', 'node_modules']) symlinkSync(join(root, name), join(home, name))
  const { version } = JSON.parse(read('package.json')) as { version: string }
  const { stdout } = await run(join(home, 'ikw'), ['--version'], { cwd: temporaryDirectory(t) })
  t.equal(stdout.trim(), version)
})

t.test('what a merchant was told and what moved a balance leads to its events', async (t) => {
  const { key } = { key: service.sandboxKey }
  const { body: feed } = await service.get<{ data: { id: string; type: string; data: { id: string } }[] }>(
    '/api/v1/events?limit=100',
    { key },
  )
  const told = feed.data.find(({ type }) => type.startsWith('payout.'))!
  const [whole] = [await rows('events', 'show', told.data.id)] as unknown as [{ stream: string }]
  t.match(await rows('events', 'show', told.id), { stream: whole.stream }, 'as its resource does')
  const { body: moves } = await service.get<{ data: { id: string }[] }>('/api/v1/balance-transactions')
  t.match(await rows('events', 'show', moves.data[0]!.id), { stream: /^ledger-/, events: [{ type: String }] })
  for (const unknown of ['evt_', 'txn_'].map((prefix) => prefix + '0'.repeat(32)))
    t.match(await ikw('events', 'show', unknown), { code: 2, stderr: `There is no ${unknown}.\n` })
  t.ok(history)
})
