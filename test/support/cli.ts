import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import file from 'tap'
import { makeHistory, type History } from './verifying/history.ts'
import { startService, type TestService } from './service.ts'

export interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export type Settings = Readonly<Record<string, string>>

/** The command line runs as these tests do, compiled or not. */
const isCompiled = import.meta.url.endsWith('.js')
const program = fileURLToPath(new URL(`../../services/cli/main.${isCompiled ? 'js' : 'ts'}`, import.meta.url))
const loader = isCompiled ? [] : ['--import', 'tsx']

/** Runs `ikw` as a process of its own, with these settings and nothing else in its environment. */
export function ikw(settings: Settings, ...parameters: readonly string[]): Promise<Run> {
  return startIkw(settings, parameters).ended
}

/** The same, with what it has said so far on standard error. */
export function startIkw(settings: Settings, parameters: readonly string[]) {
  const options = { env: { PATH: process.env['PATH'], LOG_LEVEL: 'error', ...settings } }
  const child = spawn(process.execPath, [...loader, program, ...parameters], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close')
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (said: string) => (stderr += said))
  const end = async (): Promise<Run> => {
    const stdout = await text(child.stdout)
    const [code] = (await exited) as [number | null]
    return { code, stdout, stderr }
  }
  return { ended: end(), said: () => stderr }
}

/** The settings of a running service, as its own user has them. */
export function settingsOf({ service: { runtime, port } }: TestService): Settings {
  const { dataDirectory, postgresUrl } = runtime.configuration
  return {
    DATA_DIR: dataDirectory,
    PORT: String(port),
    ...(postgresUrl !== undefined && { POSTGRES_URL: postgresUrl }),
  }
}

export function jsonOf<Value>({ code, stdout, stderr }: Run): Value {
  if (stdout === '') throw new Error(`exit code ${code}, nothing printed: ${stderr}`)
  return JSON.parse(stdout) as Value
}

export type Row = Readonly<Record<string, unknown>>

/** The service of a test file, its history so far, and its command line. */
export interface CommandLine {
  readonly service: TestService
  readonly history: History
  readonly settings: Settings
  run(...parameters: readonly string[]): Promise<Run>
  /** The same with `--json`. */
  rows(...parameters: readonly string[]): Promise<readonly Row[]>
}

/** Nested tests share one service and its history; each looks only at what it has changed itself. */
export async function openCommandLine(): Promise<CommandLine> {
  const service = await startService(file)
  const settings = settingsOf(service)
  const run = (...parameters: readonly string[]) => ikw(settings, ...parameters)
  return {
    service,
    settings,
    history: await makeHistory(service),
    run,
    rows: async (...parameters) => jsonOf(await run(...parameters, '--json')),
  }
}
