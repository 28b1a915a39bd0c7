import { spawn } from 'node:child_process'
import { createReadStream, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import type { BenchDatabase, Scale } from '../support/bench.ts'
import { NotMeasuredError } from '../support/report/contest.ts'
import type { Measured } from '../support/report/measured.ts'
import { spreadOf } from '../support/report/statistics.ts'

const places = ['/usr/bin/pgbench', '/usr/local/bin/pgbench', '/opt/homebrew/bin/pgbench']
const clients = 16

function program(): string {
  const found = places.find((place) => existsSync(place))
  if (found) return found
  const how = 'install it with `apt-get install postgresql-contrib` or `brew install postgresql`'
  throw new NotMeasuredError(`pgbench is not on this machine: ${how}`)
}

/** Creates pgbench's tables. */
export async function initialisePgbench(database: BenchDatabase, scale: number): Promise<void> {
  await run(database, ['--initialize', '--quiet', `--scale=${scale}`])
}

/** TPC-B-like transactions with prepared statements, for at least a second. */
export async function runPgbench(database: BenchDatabase, { warmMs, measuredMs }: Scale): Promise<Measured> {
  const common = [`--client=${clients}`, '--jobs=2', '--protocol=prepared', '--no-vacuum']
  await run(database, [...common, `--time=${Math.ceil(warmMs / 1_000)}`])
  const prefix = join(database.dataDirectory, '..', `${database.name}-log`)
  const logging = ['--log', `--log-prefix=${prefix}`]
  const output = await run(database, [...common, ...logging, `--time=${Math.ceil(measuredMs / 1_000)}`])
  const [, perSecond] = /^tps = ([\d.]+)/m.exec(output) ?? []
  return { value: Number(perSecond), ...spreadOf(await latenciesMs(prefix)) }
}

/** Each log line holds the client, the transaction's number and its duration in microseconds. */
async function latenciesMs(prefix: string): Promise<readonly number[]> {
  const directory = join(prefix, '..')
  const durations: number[] = []
  const names = readdirSync(directory).filter((name) => join(directory, name).startsWith(prefix))
  for (const name of names) {
    const path = join(directory, name)
    for await (const line of createInterface(createReadStream(path)))
      durations.push(Number(line.split(' ')[2]) / 1_000)
    rmSync(path)
  }
  return durations
}

function run({ url }: BenchDatabase, options: readonly string[]): Promise<string> {
  const { host, port, user = '', database = '' } = new pg.Client(url)
  const connection = [`--host=${host}`, `--port=${port}`, `--username=${user}`]
  return new Promise((resolve, reject) => {
    const child = spawn(program(), [...connection, ...options, database], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`pgbench failed: ${errors}`)),
    )
  })
}
