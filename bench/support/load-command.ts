import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError } from 'commander'
import type { Load, LoadResult } from './load/load.ts'
import type { RequestTemplate } from './load/request-template.ts'
import { number } from './report/result.ts'

interface Options {
  readonly url: URL
  readonly template: readonly RequestTemplate[]
  readonly connections: number
  readonly seconds: number
  readonly warmSeconds: number
}

/** Puts any service under the load that ours gets: `--url http://… --template file.json`. */
export async function commandLine(make: (load: Load) => Promise<LoadResult>): Promise<void> {
  const options = new Command('load')
    .description('Keeps connections busy with the requests of a template and says how many units were done.')
    .requiredOption('--url <base>', 'base URL, such as http://127.0.0.1:3068/v2', baseUrl)
    .requiredOption('--template <file>', 'JSON: a request or a list of them (see bench/README.md)', template)
    .option('--connections <count>', 'with one request under way on each', positive, 64)
    .option('--seconds <count>', 'that are measured', positive, 5)
    .option('--warm-seconds <count>', 'before them', positive, 2)
    .parse()
    .opts<Options>()
  const { url, template: requests, connections, seconds, warmSeconds } = options
  const prefix = url.pathname.replace(/\/$/, '')
  const load = {
    host: url.hostname,
    port: Number(url.port || 80),
    connections,
    plan: { flow: 'template', requests, host: url.host, prefix },
    warmMs: warmSeconds * 1_000,
    measuredMs: seconds * 1_000,
  } as const
  try {
    process.stdout.write(`${sentence(await make(load))}\n`)
  } catch (error) {
    process.stderr.write(`load: ${(error as Error).message}\n`)
    process.exitCode = 1
  }
}

function sentence({ perSecond, p50Ms, p99Ms, cpuPercent }: LoadResult): string {
  const latency = `p50 ${number(p50Ms)} ms, p99 ${number(p99Ms)} ms`
  return `${number(perSecond)} units/s, ${latency}; the load generator used ${number(cpuPercent)} % of one core`
}

function baseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:') throw new InvalidArgumentError('It must be an http URL.')
  return url
}

function template(file: string): readonly RequestTemplate[] {
  try {
    return [JSON.parse(readFileSync(file, 'utf8')) as RequestTemplate | readonly RequestTemplate[]].flat()
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be read: ${(error as Error).message}`)
  }
}

function positive(text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.')
  return value
}
