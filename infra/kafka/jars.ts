import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const javaMin = 17

/** A run from `dist` finds the list of jars beside the sources. */
const here = dirname(fileURLToPath(import.meta.url)).replace(/[/\\]dist[/\\]infra[/\\]kafka$/, '/infra/kafka')
const pom = join(here, 'pom.xml')

/**
 * A directory with the broker's jars, fetched by Maven once. Throws, saying what is missing on this machine.
 */
export function kafkaJars(parent: string): string {
  const missing = missingForKafka()
  if (missing) throw new Error(`${missing}; or set KAFKA_BROKERS to a broker that runs`)
  const directory = join(parent, createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12))
  if (!existsSync(directory)) fetchInto(directory, parent)
  return directory
}

/**
 * Fetched under a temporary name and then renamed: being killed midway leaves nothing that looks complete.
 */
function fetchInto(directory: string, parent: string): void {
  mkdirSync(parent, { recursive: true })
  const unfinished = mkdtempSync(join(parent, 'unfinished-'))
  const parameters = [
    '-q',
    '-B',
    '-f',
    pom,
    'dependency:copy-dependencies',
    `-DoutputDirectory=${unfinished}`,
  ]
  const run = spawnSync('mvn', parameters, { encoding: 'utf8' })
  if (run.status !== 0) {
    rmSync(unfinished, { recursive: true })
    throw new Error(`Maven cannot fetch Kafka: ${(run.stdout || run.stderr).trim().split('\n')[0]}`)
  }
  try {
    renameSync(unfinished, directory)
  } catch (error) {
    // Another process was faster, and its jars are as good.
    rmSync(unfinished, { recursive: true })
    if (!existsSync(directory)) throw error
  }
}

/** One sentence, when this machine cannot run a broker. */
function missingForKafka(): string | undefined {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' })
  if (java.error) return `a broker needs Java ${javaMin} or newer, but there is no java`
  const version = Number(/version "(\d+)/.exec(java.stderr)?.[1])
  if (!(version >= javaMin)) return `a broker needs Java ${javaMin} or newer, but this is ${version}`
  if (spawnSync('mvn', ['--version']).error) return 'the broker comes through Maven, but there is no mvn'
  return undefined
}
