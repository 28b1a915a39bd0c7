import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** `.ts` when the benchmark runs from its sources, `.js` when it runs from `dist`. */
const extension = import.meta.url.slice(-3)
const loader = extension === '.ts' ? ['--import', 'tsx'] : []

/** The flags with which the Makefile starts services; peers get the same. */
const asServicesRun = ['--enable-source-maps', '--max-semi-space-size=64']

/** A file of this project, relative to this directory and without its extension. */
function file(name: string): string {
  return fileURLToPath(new URL(name + extension, import.meta.url))
}

/** Running child processes: none is left behind, whatever fails. */
const living = new Set<ChildProcess>()
process.once('exit', () => living.forEach((child) => child.kill('SIGKILL')))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

function watched(child: ChildProcess): void {
  living.add(child)
  child.once('exit', () => living.delete(child))
}

/** A process that takes messages. */
export function forkChild(name: string, environment: Readonly<Record<string, string>> = {}): ChildProcess {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
  const child = fork(file(name), {
    execArgv: [...loader, ...asServicesRun],
    stdio: [...stdio],
    env: { ...process.env, ...environment },
  })
  watched(child)
  return child
}

/** The next message of a process; rejects when it exits instead. */
export async function message<Message>(child: ChildProcess): Promise<Message> {
  const ended = new AbortController()
  const received = once(child, 'message', { signal: ended.signal }) as Promise<[Message]>
  const onExit = (code: number | null) =>
    ended.abort(new Error(`a process of the benchmark ended with code ${code}`))
  child.once('exit', onExit)
  try {
    return (await received)[0]
  } finally {
    child.off('exit', onExit)
  }
}

/** Asks a process to exit and waits until it has. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

export interface RunningProgram {
  readonly child: ChildProcess
  readonly port: number
  /** NaN unless it names one. */
  readonly healthPort: number
}

export interface ProgramOptions {
  readonly given?: readonly string[]
  /** Others go first, as docs/operations.md describes it. */
  readonly isBehind?: boolean
}

/** `nice` lowers the priority; `chrt --batch`, which only Linux has, keeps it from interrupting others. */
const behindOthers =
  process.platform === 'linux' ? ['chrt', '--batch', '0', 'nice', '-n', '10'] : ['nice', '-n', '10']

/** Starts one of our programs and waits for the line that names its port. */
export async function startProgram(
  name: string,
  environment: Readonly<Record<string, string>>,
  { given = [], isBehind = false }: ProgramOptions = {},
): Promise<RunningProgram> {
  const { PATH = '', HOME = '', NODE_OPTIONS = '' } = process.env
  const node = [process.execPath, ...loader, ...asServicesRun, file(name), ...given]
  const command = isBehind ? [...behindOthers, ...node] : node
  const child = spawn(command[0]!, command.slice(1), {
    env: { PATH, HOME, NODE_OPTIONS, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  watched(child)
  let output = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    output += String(text)
    const [, port] = /http:\/\/localhost:(\d+)/.exec(output) ?? []
    const [, healthPort] = /health +http:\/\/localhost:(\d+)/.exec(output) ?? []
    if (port) {
      child.stdout.resume()
      return { child, port: Number(port), healthPort: Number(healthPort) }
    }
  }
  throw new Error(`${name} has ended before it listened: ${output}`)
}
